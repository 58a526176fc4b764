import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MutationCache } from '../../src/controllers/index.ts';
import { systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { item, prepare } from './following.ts';
import type { Following } from './following.ts';

let server: MemoryServer;
let following: Following;
let cache: MutationCache;

beforeEach(async () => {
  vi.useFakeTimers();
  server = new MemoryServer();
  following = prepare(server);
  following.factory.start();
  await pass();
  cache = new MutationCache({ informer: following.informer, clock: systemClock });
});

afterEach(async () => {
  cache.close();
  await following.factory.stop();
  vi.useRealTimers();
});

const pass = (milliseconds = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);
const versionIn = (name: string): string | undefined => cache.get(name)?.metadata.resourceVersion;

/** What a write answers that the informer does not have yet: the object as it will be, `ahead` versions from now. */
function written(previous: KubernetesObject, ahead: number, metadata = {}): KubernetesObject {
  const resourceVersion = String(Number(server.version) + ahead);
  return item('pod', resourceVersion, { uid: previous.metadata.uid, ...metadata });
}

test.each([
  ['an older state of the informer keeps what was written', 2, 1, 'written'],
  ['the same state of the informer takes its place', 1, 1, 'cached'],
  ['a newer state of the informer takes its place', 1, 2, 'cached'],
])('TestMutationCacheOnAddOrUpdate: %s', async (_case, ahead, changes, expected) => {
  const pod = server.put('pod');
  await pass();
  const mutation = written(pod, ahead);
  cache.remember(mutation);
  expect(versionIn('pod')).toBe(mutation.metadata.resourceVersion);
  for (let change = 0; change < changes; change += 1) server.put('pod');
  await pass();
  expect(versionIn('pod')).toBe(expected === 'written' ? mutation.metadata.resourceVersion : server.version);
});

test('TestMutationCacheOnDelete: the deletion of its UID takes what was written away, whatever the version', async () => {
  const pod = server.put('pod');
  await pass();
  cache.remember(written(pod, 5));
  server.remove('pod');
  await pass();
  expect(cache.get('pod')).toBeUndefined();
  expect(cache.list()).toEqual([]);
});

test('TestMutationCacheUpdateConcurrentDelete: a write whose answer comes after the deletion brings nothing back', async () => {
  const pod = server.put('pod');
  await pass();
  const mutation = written(pod, 1);
  server.put('pod');
  server.remove('pod');
  await pass();
  cache.remember(mutation);
  expect(cache.get('pod')).toBeUndefined();
});

test('TestMutationCacheUpdateConcurrentRecreate: a write to the predecessor does not hide the object that took its name', async () => {
  const pod = server.put('pod');
  await pass();
  const mutation = written(pod, 1);
  server.put('pod');
  server.remove('pod');
  const successor = server.put('pod');
  await pass();
  cache.remember(mutation);
  expect(cache.get('pod')?.metadata.uid).toBe(successor.metadata.uid);
});

test('TestMutationCacheOnDeleteClearsStaleMutation: what was deleted and created anew is shown as it is', async () => {
  const pod = server.put('pod');
  await pass();
  cache.remember(written(pod, 9));
  server.remove('pod');
  const successor = server.put('pod');
  await pass();
  expect(cache.get('pod')?.metadata.uid).toBe(successor.metadata.uid);
});

test('Beyond/a write can be waited for in the cache by its resourceVersion: until the informer has it, or for a time', async () => {
  const pod = server.put('pod');
  await pass();
  const waiting = cache.waitFor(written(pod, 1), 5000);
  server.put('pod');
  await pass();
  await expect(waiting).resolves.toBe(true);
  const inVain = cache.waitFor(written(pod, 1), 5000);
  await pass(5000);
  await expect(inVain).resolves.toBe(false);
});
