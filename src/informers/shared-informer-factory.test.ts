import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { endMark, event, ScriptedServer, synced } from '../../test/support/scripted-server.ts';
import type { Answer } from '../../test/support/scripted-server.ts';
import { SourceClient } from '../../test/support/source-client.ts';
import { noMetrics, silentLogger, systemClock } from '../kernel/index.ts';
import type { Labels, Metrics } from '../kernel/index.ts';
import { InformerStoppedError } from './informer-errors.ts';
import { ListLimit } from './list-limit.ts';
import { SharedInformerFactory } from './shared-informer-factory.ts';
import type { SharedInformerFactoryOptions } from './shared-informer-factory.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const SECRET = { group: '', version: 'v1', kind: 'Secret' };

let factories: SharedInformerFactory[];

function newFactory(
  script: readonly Answer[],
  options: Partial<SharedInformerFactoryOptions> = {},
): { factory: SharedInformerFactory; server: ScriptedServer } {
  const server = new ScriptedServer(script);
  const factory = new SharedInformerFactory({
    client: new SourceClient(server),
    clock: systemClock,
    random: () => 0,
    logger: silentLogger,
    metrics: noMetrics,
    ...options,
  });
  factories.push(factory);
  return { factory, server };
}

/** Gauges as they are now: "informer_objects eu-1 ConfigMap.v1.". */
class RecordedGauges implements Metrics {
  readonly values = new Map<string, number>();

  counter(options: Parameters<Metrics['counter']>[0]): ReturnType<Metrics['counter']> {
    return noMetrics.counter(options);
  }

  histogram(options: Parameters<Metrics['histogram']>[0]): ReturnType<Metrics['histogram']> {
    return noMetrics.histogram(options);
  }

  gauge({ name }: { readonly name: string }): ReturnType<Metrics['gauge']> {
    const key = ({ cluster, kind }: Labels): string => `${name} ${cluster} ${kind}`;
    return {
      set: (labels, value) => void this.values.set(key(labels), value),
      remove: (labels) => void this.values.delete(key(labels)),
    };
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  factories = [];
});

afterEach(async () => {
  for (const factory of factories) await factory.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('an informer', () => {
  test('is one for a kind, scope and form, and each of these another', () => {
    const { factory } = newFactory([]);
    const all = [
      factory.informer(CONFIG_MAP),
      factory.informer(SECRET),
      factory.informer(CONFIG_MAP, { namespace: 'shop' }),
      factory.informer(CONFIG_MAP, { labelSelector: 'shop' }),
      factory.informer(CONFIG_MAP, {}, { metadataOnly: true }),
    ];
    expect(new Set(all.map(({ lister }) => lister)).size).toBe(all.length);
    expect(factory.informer({ ...CONFIG_MAP }, { namespace: 'shop' }, { metadataOnly: false }).lister).toBe(
      all[2]?.lister,
    );
  });

  test('asks for its scope and form, and with the transform', async () => {
    const transform = vi.fn();
    const { factory, server } = newFactory([synced('10')], { transform });
    factory.informer(CONFIG_MAP, { namespace: 'shop', labelSelector: 'a=b' }, { metadataOnly: true });
    factory.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(server.watches[0]).toMatchObject({
      namespace: 'shop',
      labelSelector: 'a=b',
      metadataOnly: true,
      transform,
    });
  });

  test('runs until the last who asked for it has released it', async () => {
    const { factory, server } = newFactory([{ events: [event('ADDED', 'a', '1'), endMark('10')] }]);
    const [one, other] = [factory.informer(CONFIG_MAP), factory.informer(CONFIG_MAP)];
    factory.start();
    await factory.waitForSync();
    one.release();
    one.release();
    expect(server.watches[0]?.signal.aborted).toBe(false);
    expect(other.lister.list()).toHaveLength(1);
    other.release();
    expect(server.watches[0]?.signal.aborted).toBe(true);
    expect(() => other.lister.list()).toThrow(InformerStoppedError);
    expect(() => other.addHandler({})).toThrow(InformerStoppedError);
    expect(factory.staleness()).toBe(0);
    await expect(factory.waitForSync()).resolves.toBe(true);
  });

  test('that was released is listed anew when it is asked for again', async () => {
    const { factory, server } = newFactory([synced('10'), { events: [event('ADDED', 'a', '11'), endMark('12')] }]);
    factory.start();
    const first = factory.informer(CONFIG_MAP);
    await factory.waitForSync();
    first.release();
    const again = factory.informer(CONFIG_MAP);
    await factory.waitForSync();
    expect(again.lister.list()).toHaveLength(1);
    expect(server.asked).toEqual(['stream ""', 'stream ""']);
  });

  test('tells nobody any more on whose behalf it was released, and goes on telling others', async () => {
    const { factory } = newFactory([{ events: [event('ADDED', 'a', '1'), endMark('10')] }]);
    const [one, other] = [factory.informer(CONFIG_MAP), factory.informer(CONFIG_MAP)];
    const [toldOne, toldOther] = [vi.fn(), vi.fn()];
    one.addHandler({ onAdd: toldOne });
    one.release();
    other.addHandler({ onAdd: toldOther });
    factory.start();
    await factory.waitForSync();
    expect(() => one.addHandler({})).toThrow(InformerStoppedError);
    expect([toldOne.mock.calls.length, toldOther.mock.calls.length]).toEqual([0, 1]);
  });
});

describe('a factory', () => {
  test('that was stopped lets no handler be added', async () => {
    const { factory } = newFactory([synced('10')]);
    const informer = factory.informer(CONFIG_MAP);
    factory.start();
    await factory.stop();
    expect(() => informer.addHandler({})).toThrow(InformerStoppedError);
    await expect(factory.waitForSync()).resolves.toBe(false);
  });

  test('shares a limit of lists with others', async () => {
    const listLimit = new ListLimit({ clock: systemClock, limit: 1 });
    const hanging = newFactory([{ events: [] }], { listLimit });
    const waiting = newFactory([synced('10')], { listLimit });
    for (const { factory } of [hanging, waiting]) {
      factory.informer(CONFIG_MAP);
      factory.start();
    }
    await vi.advanceTimersByTimeAsync(4999);
    expect(waiting.server.asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(waiting.server.asked).toEqual(['stream ""']);
  });
});

describe('gauges', () => {
  test('show what informers of a kind have, and go with the last of them', async () => {
    const metrics = new RecordedGauges();
    const script = [{ events: [event('ADDED', 'a', '9'), event('ADDED', 'b', '10'), endMark('10')] }, synced('12')];
    const { factory } = newFactory(script, { metrics });
    const [all, some] = [factory.informer(CONFIG_MAP), factory.informer(CONFIG_MAP, { namespace: 'shop' })];
    all.addHandler({ onAdd: () => Promise.withResolvers<void>().promise });
    factory.start();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(Object.fromEntries(metrics.values)).toEqual({
      'informer_objects eu-1 ConfigMap.v1.': 2,
      'informer_bytes eu-1 ConfigMap.v1.': expect.any(Number),
      'informer_queued_items eu-1 ConfigMap.v1.': 2,
      'informer_seconds_since_last_event eu-1 ConfigMap.v1.': 20,
      'informer_store_resource_version eu-1 ConfigMap.v1.': 10,
    });
    all.release();
    expect(metrics.values.get('informer_store_resource_version eu-1 ConfigMap.v1.')).toBe(12);
    some.release();
    expect(metrics.values.size).toBe(0);
  });

  test('go with the factory; a version that is no number is not shown', async () => {
    const metrics = new RecordedGauges();
    const { factory } = newFactory([synced('v10')], { metrics });
    factory.informer(CONFIG_MAP);
    factory.start();
    await vi.advanceTimersByTimeAsync(10_000);
    expect([...metrics.values.keys()]).toContain('informer_objects eu-1 ConfigMap.v1.');
    expect([...metrics.values.keys()]).not.toContain('informer_store_resource_version eu-1 ConfigMap.v1.');
    await factory.stop();
    expect(metrics.values.size).toBe(0);
  });
});
