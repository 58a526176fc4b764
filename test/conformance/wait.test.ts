import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { UnreachableError } from '../../src/kubernetes/index.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { prepare } from './following.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('TestWaitFor: waiting answers true when all have synced, and false when the waiting or the factory ends before', async () => {
  const server = new MemoryServer();
  const { factory } = prepare(server);
  const early = factory.waitForSync(AbortSignal.abort());
  await expect(early).resolves.toBe(false);
  const waiting = factory.waitForSync();
  factory.start();
  await vi.advanceTimersByTimeAsync(0);
  await expect(waiting).resolves.toBe(true);
  server.failures.push(new UnreachableError('gone', 'ECONNREFUSED'));
  const other = prepare(server);
  other.factory.start();
  const unsynced = other.factory.waitForSync();
  await other.factory.stop();
  await expect(unsynced).resolves.toBe(false);
});
