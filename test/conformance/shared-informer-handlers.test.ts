import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import * as fc from 'fast-check';
import { InformerStoppedError } from '../../src/informers/index.ts';
import type { HandlerRegistration } from '../../src/informers/index.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { CONFIG_MAP, failuresOfHandlers, namesIn, noting, prepare } from './following.ts';
import type { Following } from './following.ts';

let server: MemoryServer;

beforeEach(() => {
  vi.useFakeTimers();
  server = new MemoryServer();
});

afterEach(() => {
  vi.useRealTimers();
});

const pass = (milliseconds = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

async function start(options: Parameters<typeof prepare>[1] = {}): Promise<Following> {
  const following = prepare(server, { random: () => 0.5, ...options });
  following.factory.start();
  await pass();
  return following;
}

test('TestResyncCheckPeriod: each handler is told again after its own period, never, or after the factory’s', async () => {
  server.put('a');
  const { informer, told } = await start({ resyncPeriod: 12_000 });
  const counts = [0, 2000, 5000, 300].map((resyncPeriod) => {
    const heard: string[] = [];
    informer.addHandler(noting(heard), { resyncPeriod });
    return heard;
  });
  await pass(12_000);
  const resyncs = (lines: readonly string[]): number => lines.filter((line) => line.startsWith('update')).length;
  expect(counts.map(resyncs)).toEqual([0, 6, 2, 12]);
  expect(resyncs(told)).toBe(1);
});

test('TestSharedInformerHandlerAbuse: whatever handlers come and go meanwhile, none is told what it is not due', async () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const step = fc.oneof(
    name.map((object) => ({ act: 'put', object }) as const),
    name.map((object) => ({ act: 'remove', object }) as const),
    fc.constant({ act: 'add' } as const),
    fc.nat(9).map((index) => ({ act: 'drop', index }) as const),
    fc.constant({ act: 'pass' } as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      server = new MemoryServer();
      const { factory, informer, log } = await start();
      const handlers: { readonly registration: HandlerRegistration; readonly held: Set<string>; isRemoved: boolean }[] =
        [];
      const add = (): void => {
        const held = new Set<string>();
        const registration = informer.addHandler({
          onAdd: ({ metadata }) => {
            expect(held.has(metadata.name ?? '')).toBe(false);
            held.add(metadata.name ?? '');
          },
          onUpdate: (_previous, { metadata }) => expect(held.has(metadata.name ?? '')).toBe(true),
          onDelete: ({ metadata }) => expect(held.delete(metadata.name ?? '')).toBe(true),
        });
        handlers.push({ registration, held, isRemoved: false });
      };
      for (const next of steps) {
        if (next.act === 'put') server.put(next.object);
        else if (next.act === 'remove') server.remove(next.object);
        else if (next.act === 'add') add();
        else if (next.act === 'pass') await pass();
        else {
          const handler = handlers[next.index];
          handler?.registration.remove();
          if (handler) handler.isRemoved = true;
        }
      }
      await pass(10);
      for (const { held, isRemoved } of handlers)
        if (!isRemoved) expect([...held].toSorted()).toEqual(namesIn(informer));
      expect(failuresOfHandlers(log)).toEqual([]);
      await factory.stop();
    }),
    { numRuns: 60 },
  );
});

test('TestAddOnStoppedSharedInformer: a handler cannot be added to what has stopped', async () => {
  const { factory, informer } = await start();
  await factory.stop();
  expect(() => informer.addHandler({})).toThrow(InformerStoppedError);
});

test('TestShutDownEventHandler_Lifecycles: a handler may be removed before the start, before the sync, and after the stop', async () => {
  server.put('a');
  const { factory, informer } = prepare(server);
  const told: string[] = [];
  const before = informer.addHandler(noting(told));
  before.remove();
  factory.start();
  const unsynced = informer.addHandler(noting(told));
  unsynced.remove();
  await pass();
  expect(told).toEqual([]);
  expect([before.hasSynced(), unsynced.hasSynced()]).toEqual([false, false]);
  const last = informer.addHandler(noting(told));
  await factory.stop();
  last.remove();
  expect(told).toEqual(['initial a@11']);
});

test('TestStoreResourceVersion: the store is at the version of the last list, event or bookmark', async () => {
  server.put('a');
  const { factory, informer } = prepare(server);
  expect(informer.resourceVersion()).toBeUndefined();
  factory.start();
  await pass();
  expect(informer.resourceVersion()).toBe('11');
  server.put('a');
  await pass();
  expect(informer.resourceVersion()).toBe('12');
  server.remove('a');
  await pass();
  expect(informer.resourceVersion()).toBe('13');
});

test('TestThreadSafeStoreRV: a bookmark moves the version of the store and tells nobody', async () => {
  const { informer, told } = await start();
  server.skip(5);
  server.bookmark();
  await pass();
  expect(informer.resourceVersion()).toBe('15');
  expect(told).toEqual([]);
});

test('Beyond/an informer ends with the last who asked for it: its watch is closed, its memory is freed', async () => {
  server.put('a');
  const { factory, informer, told } = await start();
  const other = factory.informer(CONFIG_MAP);
  expect(server.open).toBe(1);
  informer.release();
  server.put('b');
  await pass();
  expect(told).toEqual(['initial a@11']);
  expect(namesIn(other)).toEqual(['a', 'b']);
  other.release();
  other.release();
  await pass();
  expect(server.open).toBe(0);
  expect(() => other.lister.list()).toThrow(InformerStoppedError);
  const anew = factory.informer(CONFIG_MAP);
  await pass();
  expect(namesIn(anew)).toEqual(['a', 'b']);
});
