import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ScriptedServer } from '../../test/support/scripted-server.ts';
import { noMetrics, objectKey, silentLogger, systemClock } from '../kernel/index.ts';
import type { KubernetesObject, Metrics } from '../kernel/index.ts';
import { KindNotFoundError, UnexpectedAnswerError, UnreachableError } from '../kubernetes/index.ts';
import { Informer } from './informer.ts';
import type { InformerOptions } from './informer.ts';
import { InformerStoppedError } from './informer-errors.ts';
import { informerCounters } from './informer-metrics.ts';
import { ListLimit } from './list-limit.ts';
import { MemoryBudget } from './memory-budget.ts';
import type { EventHandler } from './shared-informer.ts';

const gvk = { group: '', version: 'v1', kind: 'ConfigMap' };
const error = vi.fn();

function newInformer(options: Partial<InformerOptions> = {}): Informer {
  return new Informer({
    cluster: 'eu-1',
    gvk,
    source: new ScriptedServer([]),
    clock: systemClock,
    random: () => 0.5,
    logger: { ...silentLogger, child: () => ({ ...silentLogger, error }) },
    counters: informerCounters(noMetrics),
    listLimit: new ListLimit({ clock: systemClock }),
    budget: new MemoryBudget(1_000_000),
    resyncPeriod: 3_600_000,
    detectMutations: false,
    ...options,
  });
}

function configMap(name: string, resourceVersion = '1', uid = name): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, resourceVersion, uid } };
}

async function replace(informer: Informer, objects: readonly KubernetesObject[], isRewound = false): Promise<void> {
  const byKey = new Map(objects.map((object) => [objectKey(object), object]));
  await informer.replace({ objects: byKey, size: 0, resourceVersion: '1' }, isRewound);
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

beforeEach(() => {
  vi.useFakeTimers();
  error.mockClear();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('handlers', () => {
  test('are told additions, changes and deletions in order', async () => {
    const informer = newInformer();
    const told: string[] = [];
    informer.addHandler(noting(told));
    await replace(informer, [configMap('a')]);
    informer.change({ type: 'ADDED', object: configMap('b') });
    informer.change({ type: 'MODIFIED', object: configMap('a', '2') });
    informer.change({ type: 'DELETED', object: configMap('b', '3') });
    expect(told).toEqual(['initial a@1', 'add b@1', 'update a@1 a@2', 'delete b@3']);
  });

  test('are not told the deletion of what they were never told', () => {
    const informer = newInformer();
    const told: string[] = [];
    informer.addHandler(noting(told));
    informer.change({ type: 'DELETED', object: configMap('unknown') });
    expect(told).toEqual([]);
  });

  test('find the store changed already', () => {
    const informer = newInformer();
    const seen: unknown[] = [];
    informer.addHandler({ onAdd: ({ metadata }) => seen.push(informer.lister.get(metadata.name ?? '')) });
    informer.change({ type: 'ADDED', object: configMap('a') });
    expect(seen).toEqual([configMap('a')]);
  });

  test('are told by a relist what happened while nobody looked, and nothing of what is the same', async () => {
    const informer = newInformer();
    const told: string[] = [];
    await replace(informer, [configMap('same'), configMap('changed'), configMap('gone'), configMap('again')]);
    informer.addHandler(noting(told));
    told.length = 0;
    await replace(informer, [
      configMap('same'),
      configMap('changed', '2'),
      configMap('new'),
      configMap('again', '9', 'other'),
    ]);
    expect(told).toEqual(['delete gone@1', 'update changed@1 changed@2', 'add new@1', 'delete again@1', 'add again@9']);
  });

  test('that come late are told what there is, and have synced when the informer has', async () => {
    const informer = newInformer();
    await replace(informer, [configMap('a')]);
    const told: string[] = [];
    const registration = informer.addHandler(noting(told));
    expect(told).toEqual(['initial a@1']);
    expect(registration.hasSynced()).toBe(true);
  });

  test('that register while others are told hear of each object once', async () => {
    const informer = newInformer();
    const told: string[] = [];
    let isFirst = true;
    informer.addHandler({
      onAdd: () => {
        if (isFirst) informer.addHandler(noting(told));
        isFirst = false;
      },
    });
    await replace(informer, [configMap('a'), configMap('b')]);
    expect(told).toEqual(['initial a@1', 'initial b@1']);
  });

  test('that are removed hear no more', () => {
    const informer = newInformer();
    const told: string[] = [];
    informer.addHandler(noting(told)).remove();
    informer.change({ type: 'ADDED', object: configMap('a') });
    expect(told).toEqual([]);
  });

  test('that throw disturb neither the store nor the others, and are logged', async () => {
    const informer = newInformer();
    const told: string[] = [];
    informer.addHandler({
      onAdd: () => {
        throw new Error('unforeseen');
      },
    });
    informer.addHandler(noting(told));
    await replace(informer, [configMap('a')]);
    expect(told).toEqual(['initial a@1']);
    expect(informer.hasSynced()).toBe(true);
    expect(error).toHaveBeenCalledOnce();
  });
});

describe('a handler', () => {
  test('may be registered twice, and is told twice until one registration is removed', () => {
    const informer = newInformer();
    const told: string[] = [];
    const handler = noting(told);
    const first = informer.addHandler(handler);
    informer.addHandler(handler);
    informer.change({ type: 'ADDED', object: configMap('a') });
    expect(told).toEqual(['add a@1', 'add a@1']);
    first.remove();
    informer.change({ type: 'MODIFIED', object: configMap('a', '2') });
    expect(told.slice(2)).toEqual(['update a@1 a@2']);
  });

  test('that registers while a change is told hears of it once', () => {
    const informer = newInformer();
    const told: string[] = [];
    let isFirst = true;
    const register = (): void => {
      if (isFirst) informer.addHandler(noting(told));
      isFirst = false;
    };
    informer.addHandler({ onAdd: register });
    informer.change({ type: 'ADDED', object: configMap('a') });
    expect(told).toEqual(['initial a@1']);
  });

  test('is told by a relist of a rewound server what differs under the same version', async () => {
    const informer = newInformer();
    const told: string[] = [];
    await replace(informer, [{ ...configMap('a'), data: { colour: 'red' } }, configMap('b')]);
    informer.addHandler(noting(told));
    await replace(informer, [{ ...configMap('a'), data: { colour: 'blue' } }, configMap('b')], true);
    expect(told.slice(2)).toEqual(['update a@1 a@1']);
  });

  test('is not told a change to the version that it knows', () => {
    const informer = newInformer();
    const told: string[] = [];
    informer.addHandler(noting(told));
    informer.change({ type: 'ADDED', object: configMap('a') });
    informer.change({ type: 'MODIFIED', object: configMap('a') });
    expect(told).toEqual(['add a@1']);
  });

  test('learns whether a deletion was seen', async () => {
    const informer = newInformer();
    const onDelete = vi.fn();
    await replace(informer, [configMap('seen'), configMap('unseen')]);
    informer.addHandler({ onDelete });
    informer.change({ type: 'DELETED', object: configMap('seen', '2') });
    await replace(informer, []);
    expect(onDelete.mock.calls).toEqual([
      [configMap('seen', '2'), false],
      [configMap('unseen'), true],
    ]);
  });

  test('that changes what it is told is found out where mutations are detected', () => {
    const informer = newInformer({ detectMutations: true });
    informer.addHandler({ onAdd: (object) => Object.assign(object.metadata.labels ?? {}, { colour: 'red' }) });
    const object = configMap('a');
    informer.change({ type: 'ADDED', object: { ...object, metadata: { ...object.metadata, labels: {} } } });
    expect(error.mock.calls[0]?.[1]).toMatchObject({ key: 'a', error: expect.any(TypeError) });
    expect(informer.lister.get('a')?.metadata.labels).toEqual({});
  });

  test('cannot be added to an informer that has stopped', async () => {
    const informer = newInformer();
    await informer.run(AbortSignal.abort());
    expect(() => informer.addHandler({})).toThrow(InformerStoppedError);
  });
});

describe('the version', () => {
  test('is that of the last list, change or bookmark', async () => {
    const informer = newInformer();
    expect(informer.resourceVersion()).toBeUndefined();
    await informer.replace({ objects: new Map(), size: 0, resourceVersion: '10' }, false);
    expect(informer.resourceVersion()).toBe('10');
    informer.change({ type: 'ADDED', object: configMap('a', '11') });
    expect(informer.resourceVersion()).toBe('11');
    informer.change({ type: 'DELETED', object: configMap('a', '12') });
    expect(informer.resourceVersion()).toBe('12');
    informer.bookmark('15');
    expect(informer.resourceVersion()).toBe('15');
  });
});

describe('syncing', () => {
  test('is reached by the first list, an empty one too', async () => {
    const informer = newInformer();
    const registration = informer.addHandler({});
    expect([informer.hasSynced(), registration.hasSynced()]).toEqual([false, false]);
    await replace(informer, []);
    expect([informer.hasSynced(), registration.hasSynced()]).toEqual([true, true]);
    await informer.synced;
  });
});

describe('when the server does not answer', () => {
  test('the objects stay, the error shows, and the age grows until the next sign of life', async () => {
    const informer = newInformer();
    const failure = new UnreachableError('refused', 'ECONNREFUSED');
    await replace(informer, [configMap('a')]);
    informer.heard();
    await vi.advanceTimersByTimeAsync(5000);
    informer.failed(failure);
    expect(informer.lister.list()).toHaveLength(1);
    expect(informer.lastError()).toBe(failure);
    expect(informer.staleness()).toBeGreaterThanOrEqual(5000);
    informer.heard();
    expect(informer.lastError()).toBeUndefined();
    expect(informer.staleness()).toBeLessThan(1000);
  });

  test('a kind that is certainly not served is no stale kind', async () => {
    const informer = newInformer();
    await vi.advanceTimersByTimeAsync(5000);
    informer.failed(new KindNotFoundError('no such kind', gvk));
    expect(informer.staleness()).toBeLessThan(1000);
    expect(informer.lastError()).toBeInstanceOf(KindNotFoundError);
  });

  test('failures are counted by their class', () => {
    const inc = vi.fn();
    const metrics: Metrics = {
      ...noMetrics,
      counter: ({ name }) =>
        name === 'informer_failures_total' ? { inc } : noMetrics.counter({ name, help: '', labelNames: [] }),
    };
    newInformer({ counters: informerCounters(metrics) }).failed(new UnexpectedAnswerError('malformed'));
    expect(inc).toHaveBeenCalledWith({ cluster: 'eu-1', kind: 'ConfigMap.v1.', error: 'UnexpectedAnswerError' });
  });
});
