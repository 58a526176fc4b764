import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { namesIn, prepare } from './following.ts';
import type { Following } from './following.ts';

let server: MemoryServer;
let following: Following;

beforeEach(async () => {
  vi.useFakeTimers();
  server = new MemoryServer();
  following = prepare(server);
  following.factory.start();
  await pass();
});

afterEach(async () => {
  await following.factory.stop();
  vi.useRealTimers();
});

const pass = (milliseconds = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

const colours = ({ metadata }: KubernetesObject): readonly string[] =>
  (metadata.labels?.['colours'] ?? '').split('-').filter((colour) => colour !== '');

function found(index: string, value: string): string[] {
  return following.informer.lister
    .byIndex(index, value)
    .map(({ metadata }) => metadata.name ?? '')
    .toSorted();
}

async function put(name: string, label = ''): Promise<void> {
  server.put(name, { labels: { colours: label } });
  await pass();
}

async function remove(name: string): Promise<void> {
  server.remove(name);
  await pass();
}

test('TestCache: what was put is found by its key and in the list, in its last state, and what was removed is not', async () => {
  await put('a', 'red');
  await put('b');
  await put('a', 'blue');
  await remove('b');
  const { lister } = following.informer;
  expect(lister.get('a')).toMatchObject({ metadata: { labels: { colours: 'blue' } } });
  expect(lister.get('b')).toBeUndefined();
  expect(namesIn(following.informer)).toEqual(['a']);
});

test('TestIndexer: objects are found by the values that a function answers, and an unknown index is an error', async () => {
  await put('one', 'red');
  await put('two', 'red');
  await put('three', 'blue');
  following.informer.addIndex('colour', colours);
  expect(found('colour', 'red')).toEqual(['one', 'two']);
  expect(found('colour', 'green')).toEqual([]);
  expect(() => found('color', 'red')).toThrow('color');
});

test('TestIndex: an index follows additions, changes, deletions and replacements', async () => {
  following.informer.addIndex('colour', colours);
  await put('a', 'red');
  expect(found('colour', 'red')).toEqual(['a']);
  await put('a', 'blue');
  expect(found('colour', 'red')).toEqual([]);
  expect(found('colour', 'blue')).toEqual(['a']);
  await remove('a');
  await put('a', 'green');
  expect([found('colour', 'blue'), found('colour', 'green')]).toEqual([[], ['a']]);
});

test('TestCacheTransactionShouldIndexErrors: an object that an index function cannot cope with is kept, and logged', async () => {
  following.informer.addIndex('broken', () => {
    throw new Error('unforeseen');
  });
  await put('a');
  expect(namesIn(following.informer)).toEqual(['a']);
  expect(found('broken', 'x')).toEqual([]);
  expect(following.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
});

test('TestMultiIndexKeys: an object is found by each of the values that the function answers', async () => {
  following.informer.addIndex('colour', colours);
  await put('ernie', 'red-blue');
  await put('bert', 'blue');
  await put('elmo', 'red-green');
  expect(found('colour', 'red')).toEqual(['elmo', 'ernie']);
  expect(found('colour', 'blue')).toEqual(['bert', 'ernie']);
  expect(found('colour', 'green')).toEqual(['elmo']);
});

test('TestThreadSafeStoreIndexingFunctionsWithMultipleValues: values that an object loses and gains are followed one by one', async () => {
  following.informer.addIndex('colour', colours);
  await put('a', 'red-blue');
  await put('a', 'blue-green');
  expect([found('colour', 'red'), found('colour', 'blue'), found('colour', 'green')]).toEqual([[], ['a'], ['a']]);
  await put('a', '');
  expect([found('colour', 'blue'), found('colour', 'green')]).toEqual([[], []]);
});

test('TestThreadSafeStoreAddKeepsNonEmptySetPostDeleteFromIndex: a value keeps the objects that are left', async () => {
  following.informer.addIndex('colour', colours);
  await put('a', 'red');
  await put('b', 'red');
  await remove('a');
  expect(found('colour', 'red')).toEqual(['b']);
});
