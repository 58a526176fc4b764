import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ListLimit } from '../../src/informers/index.ts';
import { formatMicroTime, systemClock } from '../../src/kernel/index.ts';
import { UnexpectedAnswerError, UnreachableError } from '../../src/kubernetes/index.ts';
import type { WatchEvent, WatchOptions } from '../../src/kubernetes/index.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { endMark, ScriptedServer, synced } from '../support/scripted-server.ts';
import { added, bookmark, follow, item, namesIn, noting, prepare } from './following.ts';
import type { Following } from './following.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const pass = (milliseconds = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

async function start(server: MemoryServer, options: Parameters<typeof prepare>[1] = {}): Promise<Following> {
  const following = prepare(server, options);
  following.factory.start();
  await pass();
  return following;
}

test('Beyond/a malformed event ends the watch, is counted and answered by a list: after a backoff', async () => {
  const malformed = new UnexpectedAnswerError('what is this');
  const { failures, server, told } = await follow(
    [
      { events: [endMark('10'), added(item('a', '11'))], end: malformed },
      { events: [added(item('b', '9')), endMark('12')] },
    ],
    799,
  );
  expect(failures).toEqual(['UnexpectedAnswerError']);
  expect(server.asked).toEqual(['stream ""']);
  await pass(1);
  expect(server.asked).toEqual(['stream ""', 'stream "11"']);
  expect(told).toEqual(['add a@11', 'delete a@11', 'add b@9']);
});

test('Beyond/a half-open connection is noticed: a watch that is silent for 90 s is cut and begun again, without a list', async () => {
  const { failures, server } = await follow([synced('10')], 89_999);
  expect(failures).toEqual([]);
  expect(server.watches[0]?.signal.aborted).toBe(false);
  await pass(1 + 800);
  expect(failures).toEqual(['WatchIdleError']);
  expect(server.watches[0]?.signal.aborted).toBe(true);
  expect(server.asked).toEqual(['stream ""', 'watch "10"']);
});

test('Beyond/a quiet watch is left alone while bookmarks come: for hours, and goes on from the last of them', async () => {
  const server = new ScriptedServer([]);
  vi.spyOn(server, 'watch').mockImplementation(async function* (
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent, void> {
    server.asked.push(`watch ${options.resourceVersion}`);
    yield endMark('100');
    for (let version = 101; version < 200 && !options.signal.aborted; version += 1) {
      await systemClock.sleep(60_000, options.signal);
      yield bookmark(String(version));
    }
  });
  const { factory, failures } = prepare(server);
  factory.start();
  await pass(98 * 60_000);
  expect(server.asked).toEqual(['watch ']);
  await pass(2 * 60_000);
  expect(failures).toEqual([]);
  expect(server.asked).toEqual(['watch ', 'watch 199']);
  await factory.stop();
});

test('Beyond/relists of many clusters spread by jitter: the same failure is answered at different times', async () => {
  const times = await Promise.all(
    [0, 0.25, 0.5, 0.75, 0.999].map(async (random) => {
      const server = new ScriptedServer([new UnreachableError('gone', 'ECONNREFUSED')]);
      const asked: number[] = [];
      const watch = server.watch.bind(server);
      vi.spyOn(server, 'watch').mockImplementation((options) => {
        asked.push(performance.now());
        return watch(options);
      });
      prepare(server, { random: () => random }).factory.start();
      await pass(1600);
      return Math.round((asked[1] ?? 0) - (asked[0] ?? 0));
    }),
  );
  expect(times).toEqual([800, 1000, 1200, 1400, 1599]);
});

/** A server whose lists begin, and end when they are told to. */
class HeldServer extends MemoryServer {
  readonly #ends: (() => void)[] = [];

  override async *watch(options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ends.push(resolve);
    await promise;
    yield* super.watch(options);
  }

  get waiting(): number {
    return this.#ends.length;
  }

  endOne(): void {
    this.#ends.shift()?.();
  }
}

test('Beyond/full lists of a process are bounded: those beyond wait until one has ended', async () => {
  const listLimit = new ListLimit({ clock: systemClock, limit: 2 });
  const server = new HeldServer();
  for (let cluster = 0; cluster < 5; cluster += 1) prepare(server, { listLimit }).factory.start();
  await pass();
  expect(server.waiting).toBe(2);
  server.endOne();
  await pass();
  expect(server.waiting).toBe(2);
  expect(server.open).toBe(1);
});

test('Beyond/full lists of a process are bounded: one that hangs keeps its place for seconds only', async () => {
  const listLimit = new ListLimit({ clock: systemClock, limit: 1 });
  const hanging = new HeldServer();
  prepare(hanging, { listLimit }).factory.start();
  await pass();
  const { factory, informer } = prepare(new MemoryServer(), { listLimit });
  factory.start();
  await pass(4000);
  expect(informer.hasSynced()).toBe(false);
  await pass(2000);
  expect(informer.hasSynced()).toBe(true);
});

describe('a handler that returns promises', () => {
  /** A handler each of whose calls ends when it is told to. */
  function slow(told: string[]): { readonly handler: ReturnType<typeof noting>; readonly endAll: () => Promise<void> } {
    let isOpen = false;
    let end = (): void => undefined;
    const wait = async (): Promise<void> => {
      if (isOpen) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      end = resolve;
      await promise;
    };
    const notes = noting(told);
    return {
      handler: {
        onAdd: (...call) => (notes.onAdd?.(...call), wait()),
        onUpdate: (...call) => (notes.onUpdate?.(...call), wait()),
        onDelete: (...call) => (notes.onDelete?.(...call), wait()),
      },
      endAll: async () => {
        isOpen = true;
        end();
        await pass(1000);
      },
    };
  }

  test('Beyond/a slow handler has a bounded buffer that coalesces by key: first previous, last current', async () => {
    const server = new MemoryServer();
    const { informer, told: quick } = await start(server);
    const told: string[] = [];
    const { handler, endAll } = slow(told);
    informer.addHandler(handler);
    server.put('first');
    await pass();
    for (let index = 0; index < 1000; index += 1) server.put(`o${index}`);
    for (let round = 0; round < 5; round += 1) for (let index = 0; index < 1000; index += 1) server.put(`o${index}`);
    await pass(1000);
    expect(quick).toHaveLength(6001);
    expect(told).toEqual(['add first@11']);
    await endAll();
    expect(told).toHaveLength(1001);
    expect(told[1]).toMatch(/^add o0@5012$/);
  });

  test('Beyond/a slow handler has a bounded buffer that coalesces by key: what came and went untold is not told at all', async () => {
    const server = new MemoryServer();
    const { informer } = await start(server);
    const told: string[] = [];
    const { handler, endAll } = slow(told);
    informer.addHandler(handler);
    for (let index = 0; index <= 1000; index += 1) server.put(`o${index}`);
    server.put('beyond');
    server.remove('beyond');
    await pass(1000);
    await endAll();
    expect(told).toHaveLength(1001);
    expect(told.filter((line) => line.includes('beyond'))).toEqual([]);
  });

  test('TestRealFIFO_HasSyncedCorrectOnDeletion: a handler has not synced while what it returned is pending', async () => {
    const server = new MemoryServer();
    server.put('a');
    const { informer } = await start(server);
    const { handler, endAll } = slow([]);
    const registration = informer.addHandler(handler);
    expect([informer.hasSynced(), registration.hasSynced()]).toEqual([true, false]);
    await endAll();
    expect(registration.hasSynced()).toBe(true);
  });

  test('TestRealFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue: an object that waits untold and is gone from the next list leads to add and delete', async () => {
    const server = new MemoryServer();
    const { informer } = await start(server);
    const told: string[] = [];
    const { handler, endAll } = slow(told);
    informer.addHandler(handler);
    server.put('busy');
    server.put('foo');
    await pass();
    server.failures.push(new UnreachableError('gone', 'ECONNRESET'));
    server.cut();
    server.remove('foo');
    server.compact();
    await pass(10_000);
    await endAll();
    expect(told).toEqual(['add busy@11', 'add foo@12', 'delete foo@12']);
  });

  test('TestRealFIFO_UpdateResyncRace: a resync is not told of an object of which something newer waits', async () => {
    const server = new MemoryServer();
    server.put('a');
    const { informer } = await start(server);
    const told: string[] = [];
    const { handler, endAll } = slow(told);
    informer.addHandler(handler, { resyncPeriod: 5000 });
    server.put('a');
    await pass(5000);
    await endAll();
    expect(told).toEqual(['initial a@11', 'update a@11 a@12']);
  });

  test('TestRemoveEventHandler_SynchronousShutdown: a removed handler is told nothing of what waits for it', async () => {
    const server = new MemoryServer();
    const { informer } = await start(server);
    const told: string[] = [];
    const { handler, endAll } = slow(told);
    const registration = informer.addHandler(handler);
    for (const name of ['a', 'b', 'c']) server.put(name);
    await pass();
    registration.remove();
    await endAll();
    expect(told).toEqual(['add a@11']);
  });

  test('Beyond/a failing handler is no uncaught exception: a rejection is logged, and the next event is told', async () => {
    const uncaught = vi.fn();
    process.on('unhandledRejection', uncaught);
    const server = new MemoryServer();
    const { informer, log } = await start(server);
    const told: string[] = [];
    informer.addHandler({
      onAdd: async ({ metadata }) => {
        told.push(metadata.name ?? '');
        return Promise.reject(new Error('unforeseen'));
      },
    });
    server.put('a');
    server.put('b');
    await pass(1000);
    expect(told).toEqual(['a', 'b']);
    expect(log.lines.filter(({ message }) => message === 'event handler failed')).toHaveLength(2);
    process.off('unhandledRejection', uncaught);
    expect(uncaught).not.toHaveBeenCalled();
  });
});

test('Beyond/an object that was recreated unseen is told as deletion and addition: its UID tells', async () => {
  const server = new MemoryServer();
  server.put('kept');
  server.put('again');
  const { told } = await start(server);
  told.length = 0;
  server.failures.push(new UnreachableError('gone', 'ECONNRESET'));
  server.cut();
  server.remove('again');
  server.put('again');
  server.compact();
  await pass(10_000);
  expect(told).toEqual(['delete again@12', 'add again@14']);
});

test('Beyond/a storage that was set back is noticed: at the next end of a watch, and all is listed anew', async () => {
  const server = new MemoryServer();
  for (const name of ['a', 'b', 'c']) server.put(name);
  const { failures, informer } = await start(server);
  const restored = new MemoryServer();
  restored.put('a');
  server.become(restored);
  await pass(2000);
  server.cut();
  await pass(5000);
  expect(failures).toContain('ServerBehindError');
  expect(namesIn(informer)).toEqual(['a']);
});

test('Beyond/a storage that was set back is noticed: also when the watch stays open and silent', async () => {
  const server = new MemoryServer();
  for (const name of ['a', 'b', 'c']) server.put(name);
  const { informer } = await start(server);
  const restored = new MemoryServer();
  restored.put('a');
  server.become(restored);
  await pass(100_000);
  expect(namesIn(informer)).toEqual(['a']);
});

test('Beyond/a MicroTime has six digits: an API server refuses three', () => {
  expect(formatMicroTime(Date.UTC(2026, 0, 2, 3, 4, 5, 6))).toBe('2026-01-02T03:04:05.006000Z');
});
