import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError, ExpiredError, TooManyRequestsError } from '../../src/kubernetes/index.ts';
import type { WatchEvent, WatchOptions } from '../../src/kubernetes/index.ts';
import { endMark, ScriptedServer, synced } from '../support/scripted-server.ts';
import { added, bookmark, deleted, follow, item, modified, namesIn, prepare } from './following.ts';

const expired = new ExpiredError('too old', { status: 410 });
const slowly = new TooManyRequestsError('slowly', 0);

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Counts the watches that are open. */
class CountingServer extends ScriptedServer {
  open = 0;
  most = 0;

  override async *watch(options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    this.open += 1;
    this.most = Math.max(this.most, this.open);
    try {
      yield* super.watch(options);
    } finally {
      this.open -= 1;
    }
  }
}

test('TestCloseWatchChannelOnError: a watch that ends in an error is closed before the next one is opened', async () => {
  const server = new CountingServer([{ events: [endMark('1'), added(item('a', '2'))], end: expired }, synced('3')]);
  const { factory } = prepare(server);
  factory.start();
  await vi.advanceTimersByTimeAsync(800);
  expect(server.asked).toEqual(['stream ""', 'stream "2"']);
  expect(server).toMatchObject({ open: 1, most: 1 });
});

test('TestRunUntil: stopping ends the run and its watch', async () => {
  const server = new CountingServer([synced('1')]);
  const { factory } = prepare(server);
  factory.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(server.open).toBe(1);
  await factory.stop();
  expect(server.open).toBe(0);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(server.asked).toHaveLength(1);
});

test('TestReflectorResyncChan: the resync comes when its period is over, and not before', async () => {
  const { told } = await follow([{ events: [added(item('a', '1')), endMark('1')] }], 899, {
    resyncPeriod: 1000,
  });
  expect(told).toEqual(['initial a@1']);
  await vi.advanceTimersByTimeAsync(1);
  expect(told).toEqual(['initial a@1', 'update a@1 a@1']);
});

test('TestReflectorResync: every period tells all objects once more', async () => {
  const { told } = await follow([{ events: [added(item('a', '1')), added(item('b', '1')), endMark('1')] }], 2000, {
    resyncPeriod: 1000,
    random: () => 0.5,
  });
  const resync = ['update a@1 a@1', 'update b@1 b@1'];
  expect(told).toEqual(['initial a@1', 'initial b@1', ...resync, ...resync]);
});

test('TestReflectorWatchStoppedBefore: a factory that is stopped before it begins asks the server nothing', async () => {
  const server = new ScriptedServer([]);
  const { factory } = prepare(server);
  await factory.stop();
  factory.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(server.asked).toEqual([]);
});

test('TestReflectorWatchStoppedAfter: a watch that is open when it is stopped sees its signal abort', async () => {
  const { factory, server } = await follow([synced('1')]);
  expect(server.watches[0]?.signal.aborted).toBe(false);
  await factory.stop();
  expect(server.watches[0]?.signal.aborted).toBe(true);
});

test('TestReflectorHandleWatchStoppedBefore: events that come after the stop are not told', async () => {
  const server = new ScriptedServer([]);
  const gate = Promise.withResolvers<void>();
  vi.spyOn(server, 'watch').mockImplementation(async function* () {
    yield endMark('1');
    await gate.promise;
    yield added(item('late', '2'));
  });
  const { factory, told } = prepare(server);
  factory.start();
  await vi.advanceTimersByTimeAsync(0);
  const stopped = factory.stop();
  gate.resolve();
  await stopped;
  expect(told).toEqual([]);
});

test('TestReflectorHandleWatchStoppedAfter: what was told before the stop stays in the store', async () => {
  const { factory, informer, told } = await follow([{ events: [endMark('1'), added(item('a', '2'))] }]);
  await factory.stop();
  expect(told).toEqual(['add a@2']);
  expect(namesIn(informer)).toEqual(['a']);
});

test('TestReflectorHandleWatchResultChanClosedBefore: a watch that ends at once without an event is a failure', async () => {
  const { failures, server } = await follow([
    { events: [endMark('1'), added(item('a', '2'))], end: 'closed' },
    { events: [], end: 'closed' },
    synced('3'),
  ]);
  expect(failures).toEqual(['WatchCutShortError']);
  expect(server.asked).toEqual(['stream ""', 'watch "2"']);
  await vi.advanceTimersByTimeAsync(800);
  expect(server.asked).toEqual(['stream ""', 'watch "2"', 'stream "2"']);
});

test('TestReflectorHandleWatchResultChanClosedAfter: a watch that brought an event and ends is simply begun again', async () => {
  const { failures, server } = await follow([{ events: [endMark('1'), added(item('a', '2'))], end: 'closed' }]);
  expect(server.asked).toEqual(['stream ""', 'watch "2"']);
  expect(failures).toEqual([]);
});

test('TestReflectorWatchHandler: additions, changes and deletions are applied, unknown deletions ignored, the version is the last', async () => {
  const { informer, server, told } = await follow([
    {
      events: [
        added(item('foo', '1')),
        added(item('bar', '1')),
        endMark('10'),
        modified(item('bar', '55')),
        added(item('baz', '32')),
        deleted(item('foo', '56')),
        deleted(item('never-seen', '57')),
      ],
      end: 'closed',
    },
  ]);
  expect(told).toEqual([
    'initial foo@1',
    'initial bar@1',
    'update bar@1 bar@55',
    'add baz@32',
    expect.stringMatching(/^delete foo@/),
  ]);
  expect(namesIn(informer)).toEqual(['bar', 'baz']);
  expect(server.asked).toEqual(['stream ""', 'watch "57"']);
});

test('TestReflectorStopWatch: a stop is no failure', async () => {
  const { factory, failures, informer } = await follow([synced('1')]);
  await factory.stop();
  expect(failures).toEqual([]);
  expect(informer.lastError()).toBeUndefined();
});

test('TestBackoffOnTooManyRequests: each 429 of a watch is waited out', async () => {
  const { server } = await follow([{ events: [endMark('1')], end: slowly }, slowly], 799);
  expect(server.asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(server.asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1599);
  expect(server.asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(server.asked).toHaveLength(3);
});

test('TestNoRelistOnTooManyRequests: one list, however many watches are refused by a 429', async () => {
  const { server } = await follow([{ events: [endMark('1')], end: slowly }, slowly, slowly, slowly], 30_000);
  expect(server.asked).toEqual(['stream ""', ...Array.from({ length: 4 }, () => 'watch "1"')]);
});

const internal = new ApiError('etcdserver: no leader', { status: 500, reason: 'InternalError' });

test('TestRetryInternalError/retries on, all calls fail: for 30 s the watch is tried again, then it is listed', async () => {
  const { failures, server } = await follow(
    [{ events: [endMark('1')], end: internal }, ...Array.from({ length: 20 }, () => internal)],
    800 + 1600 + 3200 + 6400 + 12_800,
  );
  expect(server.asked).toEqual(['stream ""', ...Array.from({ length: 5 }, () => 'watch "1"')]);
  await vi.advanceTimersByTimeAsync(25_600);
  expect(server.asked.at(6)).toBe('watch "1"');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(server.asked.at(7)).toBe('stream "1"');
  expect(new Set(failures)).toEqual(new Set(['ApiError']));
});

test('TestRetryInternalError/retries on, one call successful: the 30 s begin anew with the next failure', async () => {
  const failing = Array.from({ length: 4 }, () => internal);
  const { server } = await follow(
    [
      { events: [endMark('1')], end: internal },
      ...failing,
      { events: [bookmark('2')], end: internal },
      ...failing,
      ...failing,
    ],
    800 + 1600 + 3200 + 6400 + 12_800 + 25_600,
  );
  expect(server.asked.at(6)).toBe('watch "2"');
  expect(server.asked.filter((call) => call.startsWith('stream'))).toHaveLength(1);
});

test('TestReflectorReplacesStoreOnUnsafeDelete: a store read error of a watch is answered by a list that takes the object away', async () => {
  const corrupt = new ApiError('corrupt object has been deleted', { status: 500, reason: 'StoreReadError' });
  const { informer, told } = await follow(
    [
      { events: [added(item('foo-1', '1')), endMark('3'), added(item('foo', '4'))], end: corrupt },
      { events: [added(item('foo-1', '1')), endMark('5')] },
    ],
    800,
  );
  expect(told).toEqual(['initial foo-1@1', 'add foo@4', 'delete foo@4']);
  expect(namesIn(informer)).toEqual(['foo-1']);
});

test.each([
  [0, 300],
  [0.999, 599],
])(
  'TestWatchTimeout: the server is asked to end a watch after a random 5 to 10 minutes (random %d)',
  async (random, seconds) => {
    const { server } = await follow([{ events: [endMark('1'), added(item('a', '2'))], end: 'closed' }], 0, {
      random: () => random,
    });
    expect(server.watches.map(({ timeoutSeconds }) => timeoutSeconds)).toEqual([seconds, seconds]);
  },
);

test.each([
  ['ADDED', added(item('a', '11'))],
  ['MODIFIED', modified(item('known', '11'))],
  ['DELETED', deleted(item('known', '11'))],
  ['BOOKMARK', bookmark('11')],
])('TestReflectorResourceVersionUpdate: %s moves the version that is gone on from', async (_type, event) => {
  const { server } = await follow([{ events: [added(item('known', '1')), endMark('10'), event], end: 'closed' }]);
  expect(server.asked).toEqual(['stream ""', 'watch "11"']);
});
