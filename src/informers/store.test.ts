import { describe, expect, test, vi } from 'vitest';
import { WorkStretch, objectKey, silentLogger, systemClock } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { freeze } from './freeze.ts';
import { MemoryBudget } from './memory-budget.ts';
import { Store } from './store.ts';
import type { StoreChange } from './store.ts';

function configMap(name: string, uid = 'uid-1', resourceVersion = '1', labels = {}): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop', uid, resourceVersion, labels } };
}

function newStore(logger = silentLogger): Store {
  return new Store({ logger, budget: new MemoryBudget(1_000_000), freeze });
}

async function replace(
  store: Store,
  objects: readonly KubernetesObject[],
  isRewound = false,
): Promise<readonly StoreChange[]> {
  return store.replace({
    objects: new Map(objects.map((object) => [objectKey(object), object])),
    isRewound,
    isInitial: false,
    stretch: new WorkStretch(systemClock),
  });
}

const byLabels = ({ metadata }: KubernetesObject): readonly string[] => Object.keys(metadata.labels ?? {});
const names = (objects: readonly KubernetesObject[]): unknown[] => objects.map(({ metadata }) => metadata.name);

describe('objects', () => {
  test('are found by namespace and name, cluster-scoped ones by name', () => {
    const store = newStore();
    store.set(configMap('a'));
    store.set({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    expect(store.get('shop/a')).toEqual(configMap('a'));
    expect(store.get('shop')).toMatchObject({ kind: 'Namespace' });
    expect(store.get('a')).toBeUndefined();
    expect(names(store.list())).toEqual(['a', 'shop']);
  });

  test('cannot be changed', () => {
    const store = newStore();
    store.set(configMap('a'));
    const object = store.get('shop/a') as { kind: string; metadata: { name: string } };
    expect(() => (object.kind = 'Secret')).toThrow(TypeError);
    expect(() => (object.metadata.name = 'b')).toThrow(TypeError);
  });

  test('a replacement answers deletions first, then what is new or changed, and leaves out what is the same', async () => {
    const store = newStore();
    for (const name of ['same', 'changed', 'gone', 'recreated']) store.set(configMap(name));
    const changes = await replace(store, [
      configMap('new'),
      configMap('same'),
      configMap('changed', 'uid-1', '2'),
      configMap('recreated', 'uid-2'),
    ]);
    expect(changes).toEqual([
      { previous: configMap('gone'), isFinalStateUnknown: true, sequence: 5 },
      { current: configMap('new'), sequence: 6 },
      { previous: configMap('changed'), current: configMap('changed', 'uid-1', '2'), sequence: 7 },
      { previous: configMap('recreated'), current: configMap('recreated', 'uid-2'), sequence: 8 },
    ]);
    expect(names(store.list())).toEqual(expect.arrayContaining(['changed', 'new', 'recreated', 'same']));
    expect(store.get('shop/gone')).toBeUndefined();
  });
});

describe('indices', () => {
  test('follow additions, changes, deletions and replacements', async () => {
    const store = newStore();
    store.addIndex('label', byLabels);
    store.set(configMap('a', 'uid-1', '1', { red: '', blue: '' }));
    store.set(configMap('b', 'uid-2', '1', { red: '' }));
    expect(names(store.byIndex('label', 'red'))).toEqual(['a', 'b']);

    store.set(configMap('a', 'uid-1', '2', { blue: '' }));
    expect(names(store.byIndex('label', 'red'))).toEqual(['b']);

    store.delete('shop/b');
    expect(store.byIndex('label', 'red')).toEqual([]);

    await replace(store, [configMap('c', 'uid-3', '1', { blue: '' })]);
    expect(names(store.byIndex('label', 'blue'))).toEqual(['c']);
  });

  test('cover what was there before them', () => {
    const store = newStore();
    store.set(configMap('a', 'uid-1', '1', { red: '' }));
    store.addIndex('label', byLabels);
    expect(names(store.byIndex('label', 'red'))).toEqual(['a']);
  });

  test('keep their function: the same again is fine, another is not', () => {
    const store = newStore();
    store.addIndex('label', byLabels);
    store.addIndex('label', byLabels);
    expect(() => store.addIndex('label', () => [])).toThrow('label');
    expect(() => store.byIndex('lable', 'red')).toThrow('lable');
  });

  test('leave out an object that their function cannot cope with', () => {
    const error = vi.fn();
    const store = newStore({ ...silentLogger, error });
    store.addIndex('broken', () => {
      throw new Error('unforeseen');
    });
    store.set(configMap('a'));
    expect(store.get('shop/a')).toBeDefined();
    expect(store.byIndex('broken', 'x')).toEqual([]);
    expect(error).toHaveBeenCalledOnce();
  });
});
