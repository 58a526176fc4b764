import { describe, expect, test, vi } from 'vitest';
import { WorkStretch, objectKey, silentLogger, systemClock } from '../kernel/index.ts';
import type { KubernetesObject, OwnerReference } from '../kernel/index.ts';
import { freeze, freezeDeeply } from './freeze.ts';
import { byLabel, byNamespace, byOwnerUid } from './index-functions.ts';
import { InformerStoppedError, MemoryLimitError } from './informer-errors.ts';
import { MemoryBudget } from './memory-budget.ts';
import { objectSize } from './object-size.ts';
import { Store } from './store.ts';
import type { StoreChange } from './store.ts';

function configMap(name: string, uid = 'uid-1', resourceVersion = '1', labels = {}): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop', uid, resourceVersion, labels } };
}

function newStore(logger = silentLogger, budget = new MemoryBudget(1_000_000)): Store {
  return new Store({ logger, budget, freeze });
}

async function replace(
  store: Store,
  objects: readonly KubernetesObject[],
  isRewound = false,
): Promise<readonly StoreChange[]> {
  return store.replace({
    objects: new Map(objects.map((object) => [objectKey(object), object])),
    size: objects.reduce((size, object) => size + objectSize(object), 0),
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

  test('cannot be changed in any part where mutations are detected', () => {
    const store = new Store({ logger: silentLogger, budget: new MemoryBudget(1_000_000), freeze: freezeDeeply });
    store.set({ ...configMap('a'), data: { colours: ['red'] } });
    const object = store.get('shop/a') as unknown as { data: { colours: string[] } };
    expect(() => object.data.colours.push('blue')).toThrow(TypeError);
    expect(() => (object.data = { colours: [] })).toThrow(TypeError);
  });

  test('of the version that is there already change nothing', () => {
    const store = newStore();
    store.set(configMap('a'));
    const first = store.get('shop/a');
    expect(store.set(configMap('a'))).toBeUndefined();
    expect(store.get('shop/a')).toBe(first);
  });

  test('a deletion answers the final state, and the last known one where that is of another object', () => {
    const store = newStore();
    store.set(configMap('a', 'uid-1', '1'));
    expect(store.delete('shop/a', configMap('a', 'uid-1', '2'))).toEqual({
      previous: configMap('a', 'uid-1', '2'),
      sequence: 2,
    });
    store.set(configMap('a', 'uid-2', '3'));
    expect(store.delete('shop/a', configMap('a', 'uid-9', '4'))).toMatchObject({
      previous: configMap('a', 'uid-2', '3'),
      isFinalStateUnknown: true,
    });
    expect(store.delete('shop/a')).toBeUndefined();
  });

  test('a rewound server may have other objects under the same versions', async () => {
    const store = newStore();
    for (const name of ['same', 'other']) store.set({ ...configMap(name), data: { colour: 'red' } });
    const after = [
      { ...configMap('same'), data: { colour: 'red' } },
      { ...configMap('other'), data: { colour: 'blue' } },
    ];
    expect(await replace(store, after)).toEqual([]);
    const changes = await replace(store, after, true);
    expect(changes.map(({ current }) => current?.metadata.name)).toEqual(['other']);
    expect(store.get('shop/other')).toMatchObject({ data: { colour: 'blue' } });
  });

  test('cannot be read when all is released: nothing must look as if it did not exist', () => {
    const store = newStore();
    store.addIndex('label', byLabels);
    store.set(configMap('a'));
    store.close();
    expect(() => store.get('shop/a')).toThrow(InformerStoppedError);
    expect(() => store.list()).toThrow(InformerStoppedError);
    expect(() => store.byIndex('label', 'red')).toThrow(InformerStoppedError);
    expect(store.set(configMap('a'))).toBeUndefined();
    expect(store.count).toBe(0);
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

  test('know their values, and forget a value with its last object', () => {
    const store = newStore();
    store.addIndex('label', byLabels);
    store.set(configMap('a', 'uid-1', '1', { red: '', blue: '' }));
    store.set(configMap('b', 'uid-2', '1', { red: '' }));
    expect(store.indexValues('label')).toEqual(['red', 'blue']);
    expect(store.indexKeys('label', 'red')).toEqual(['shop/a', 'shop/b']);
    store.delete('shop/a');
    expect(store.indexValues('label')).toEqual(['red']);
  });

  test('by namespace, label and owner are ready-made', () => {
    const store = newStore();
    store.addIndex('namespace', byNamespace);
    store.addIndex('team', byLabel('team'));
    store.addIndex('owner', byOwnerUid);
    const owner = (uid: string): OwnerReference => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid });
    const { metadata, ...rest } = configMap('a', 'uid-1', '1', { team: 'shop' });
    store.set({ ...rest, metadata: { ...metadata, ownerReferences: [owner('u1'), owner('u2')] } });
    store.set({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cluster-scoped' } });
    expect(store.indexValues('namespace')).toEqual(['shop']);
    expect(store.indexValues('team')).toEqual(['shop']);
    expect(store.indexValues('owner')).toEqual(['u1', 'u2']);
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

test('a replacement by a server that went back tells of objects that are too deep to be compared', async () => {
  const deep = (): KubernetesObject => {
    let data: object = {};
    for (let level = 0; level < 20_000; level += 1) data = { a: data };
    return { ...configMap('deep'), data };
  };
  const store = newStore(silentLogger, new MemoryBudget(100_000_000));
  await replace(store, [deep(), configMap('gone')]);
  const changes = await replace(store, [deep()], true);
  expect(changes.map(({ previous, current }) => [previous?.metadata.name, current?.metadata.name])).toEqual([
    ['gone', undefined],
    ['deep', 'deep'],
  ]);
});

describe('memory', () => {
  const large = (name: string, resourceVersion = '1'): KubernetesObject => ({
    ...configMap(name, name, resourceVersion),
    data: { text: 'x'.repeat(1000) },
  });
  const room = 3.5 * objectSize(large('a'));

  test('an object that there is no room for is refused, and what is there stays', () => {
    const store = newStore(silentLogger, new MemoryBudget(room));
    for (const name of ['a', 'b', 'c']) store.set(large(name));
    expect(() => store.set(large('d'))).toThrow(MemoryLimitError);
    expect(store.count).toBe(3);
    store.delete('shop/a');
    store.set(large('d'));
    expect(store.set(large('d', '2'))).toBeDefined();
  });

  test('a replacement that there is no room for changes nothing; one of the same size fits', async () => {
    const store = newStore(silentLogger, new MemoryBudget(room));
    await replace(store, [large('a'), large('b'), large('c')]);
    await expect(
      replace(
        store,
        ['a', 'b', 'c', 'd'].map((name) => large(name, '2')),
      ),
    ).rejects.toThrow(MemoryLimitError);
    expect(store.get('shop/a')?.metadata.resourceVersion).toBe('1');
    await replace(store, [large('d'), large('e'), large('f')]);
    expect(names(store.list())).toEqual(['d', 'e', 'f']);
  });

  test('is one for all stores of a cluster, and is given back', async () => {
    const budget = new MemoryBudget(room);
    const [one, other] = [newStore(silentLogger, budget), newStore(silentLogger, budget)];
    await replace(one, [large('a'), large('b'), large('c')]);
    expect(() => other.set(large('a'))).toThrow(MemoryLimitError);
    one.close();
    other.set(large('a'));
    expect(one.size).toBe(0);
  });
});
