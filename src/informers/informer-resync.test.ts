import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { endMark, event, ScriptedServer } from '../../test/support/scripted-server.ts';
import { noMetrics, silentLogger, systemClock } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { Informer } from './informer.ts';
import type { InformerOptions } from './informer.ts';
import { informerCounters } from './informer-metrics.ts';
import { ListLimit } from './list-limit.ts';
import { MemoryBudget } from './memory-budget.ts';
import type { EventHandler } from './shared-informer.ts';

const gvk = { group: '', version: 'v1', kind: 'ConfigMap' };

function newInformer(options: Partial<InformerOptions> = {}): Informer {
  return new Informer({
    cluster: 'eu-1',
    gvk,
    source: new ScriptedServer([]),
    clock: systemClock,
    random: () => 0.5,
    logger: silentLogger,
    counters: informerCounters(noMetrics),
    listLimit: new ListLimit({ clock: systemClock }),
    budget: new MemoryBudget(1_000_000),
    resyncPeriod: 3_600_000,
    detectMutations: false,
    ...options,
  });
}

/** A handler that notes in words what it is told. */
function noting(told: string[]): EventHandler {
  const version = ({ metadata }: KubernetesObject): string => `${metadata.name}@${metadata.resourceVersion}`;
  return {
    onAdd: (object, isInInitialList) => told.push(`${isInInitialList ? 'initial' : 'add'} ${version(object)}`),
    onUpdate: (previous, current) => told.push(`update ${version(previous)} ${version(current)}`),
    onDelete: (last) => told.push(`delete ${version(last)}`),
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a resync', () => {
  test('all objects are told again at each resync', async () => {
    const source = new ScriptedServer([{ events: [event('ADDED', 'a', '1'), endMark('1')] }]);
    const informer = newInformer({ source, resyncPeriod: 1000 });
    const told: string[] = [];
    informer.addHandler(noting(told));
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    await vi.advanceTimersByTimeAsync(2000);
    expect(told).toEqual(['initial a@1', 'update a@1 a@1', 'update a@1 a@1']);
    stop.abort();
    await running;
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    ['its own period', 3000, 3000],
    ['at least a second', 1, 1000],
    ["the factory's period", undefined, 5000],
  ])('each handler is told again after %s', async (_behaviour, resyncPeriod, milliseconds) => {
    const source = new ScriptedServer([{ events: [event('ADDED', 'a', '1'), endMark('1')] }]);
    const informer = newInformer({ source, resyncPeriod: 5000 });
    const stop = new AbortController();
    void informer.run(stop.signal);
    const told: string[] = [];
    informer.addHandler(noting(told), resyncPeriod === undefined ? {} : { resyncPeriod });
    await vi.advanceTimersByTimeAsync(milliseconds - 1);
    expect(told).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toEqual(['initial a@1', 'update a@1 a@1']);
    stop.abort();
  });

  test('that is due while a list is taken over comes after it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let now = 0;
    // Every second object is the last of a stretch of work.
    const clock = { ...systemClock, monotonic: () => (now += 5) };
    const informer = newInformer({ source: new ScriptedServer([{ events: [] }]), clock, resyncPeriod: 1000 });
    const told: string[] = [];
    informer.addHandler(noting(told));
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    const objects = new Map(['a', 'b', 'c', 'd'].map((name) => [name, event('ADDED', name, '1').object]));
    const replacing = informer.replace({ objects, size: 0, resourceVersion: '1' }, false);
    while (told.length === 0) await new Promise(setImmediate);
    expect(told.length).toBeLessThan(4);
    vi.advanceTimersByTime(1000);
    await replacing;
    while (told.length < 8) await new Promise(setImmediate);
    expect(told.slice(0, 4)).toEqual(['initial a@1', 'initial b@1', 'initial c@1', 'initial d@1']);
    expect(told.slice(4)).toEqual(['update a@1 a@1', 'update b@1 b@1', 'update c@1 c@1', 'update d@1 d@1']);
    stop.abort();
    await running;
  });

  test('a handler that asks for none is not told again, and neither is one that was removed', async () => {
    const source = new ScriptedServer([{ events: [event('ADDED', 'a', '1'), endMark('1')] }]);
    const informer = newInformer({ source, resyncPeriod: 1000 });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    const told: string[] = [];
    informer.addHandler(noting(told), { resyncPeriod: 0 });
    const registration = informer.addHandler(noting(told));
    await vi.advanceTimersByTimeAsync(0);
    registration.remove();
    await vi.advanceTimersByTimeAsync(5000);
    expect(told).toEqual(['initial a@1', 'initial a@1']);
    stop.abort();
    await running;
  });

  test('nothing is told again before the first list', async () => {
    const informer = newInformer({ source: new ScriptedServer([{ events: [] }]), resyncPeriod: 1000 });
    const told: string[] = [];
    const stop = new AbortController();
    void informer.run(stop.signal);
    informer.addHandler(noting(told));
    await vi.advanceTimersByTimeAsync(3000);
    expect(told).toEqual([]);
    stop.abort();
  });

  test.each([
    [0, 900],
    [1, 1100],
  ])('a resync comes a tenth earlier or later (random %d)', async (random, milliseconds) => {
    const source = new ScriptedServer([{ events: [event('ADDED', 'a', '1'), endMark('1')] }]);
    const informer = newInformer({ source, resyncPeriod: 1000, random: () => random });
    const told: string[] = [];
    informer.addHandler(noting(told));
    const stop = new AbortController();
    void informer.run(stop.signal);
    await vi.advanceTimersByTimeAsync(milliseconds - 1);
    expect(told).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toHaveLength(2);
    stop.abort();
  });
});
