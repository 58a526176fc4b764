import { expect, test } from 'vitest';
import { done, formatKey, systemClock } from '../../src/kernel/index.ts';
import { eventually } from '../support/eventually.ts';
import { gate, keyOf } from '../support/queue-replica.ts';
import { useQueues } from '../support/use-queues.ts';

const LONG = 600_000;
/** controller-runtime's longest backoff. */
const LONGEST = 1_000_000;

const { inspection, partOfQueue, replica, dueAt } = useQueues();

test('TestBasic: every key that producers add runs, and what is added after the stop does not', async () => {
  const [owner, other] = [replica(), replica()];
  owner.start(8);
  for (let round = 0; round < 20; round += 1) {
    for (let index = 0; index < 25; index += 1) {
      owner.queue.add(keyOf(`own${index}`));
      other.queue.add(keyOf(`other${index}`));
    }
    await systemClock.sleep(1);
  }
  await owner.settled();
  await other.settled(owner);
  for (let index = 0; index < 25; index += 1) {
    expect(owner.runs(`own${index}`)).toBeGreaterThan(0);
    expect(owner.runs(`other${index}`)).toBeGreaterThan(0);
  }
  await owner.queue.stop(10_000);
  owner.queue.add(keyOf('late'));
  await eventually(async () => (await owner.queue.depth()) === 1);
  expect(owner.runs('late')).toBe(0);
  expect(owner.mostConcurrent).toBe(1);
});

test('TestAddWhileProcessing: a key that each of its runs adds again runs once for each, never beside itself', async () => {
  const owner = replica();
  const names = Array.from({ length: 20 }, (_, index) => `k${index}`);
  for (const name of names) {
    owner.on(name, (run) => {
      if (run < 4) owner.queue.add(keyOf(name));
      return Promise.resolve(done);
    });
  }
  owner.start(8);
  for (const name of names) owner.queue.add(keyOf(name));
  for (const name of names) await owner.ran(name, 4);
  await owner.settled();
  expect(names.map((name) => owner.runs(name))).toEqual(names.map(() => 4));
  expect(owner.mostConcurrent).toBe(1);
  expect(await owner.queue.depth()).toBe(0);
});

test('TestLen: counts a key once', async () => {
  const owner = replica();
  const depth = async (): Promise<number> => {
    await eventually(async () => (await inspection().exists(partOfQueue('meta'))) === 1);
    return owner.queue.depth();
  };
  owner.queue.add(keyOf('foo'));
  expect(await depth()).toBe(1);
  owner.queue.add(keyOf('bar'));
  expect(await depth()).toBe(2);
  owner.queue.add(keyOf('foo'));
  await eventually(async () => (await inspection().llen(partOfQueue('wait'))) === 2);
  expect(await depth()).toBe(2);
});

test('TestNoQueueDrainageUsingShutDown: a stop without time does not wait for runs', async () => {
  const owner = replica();
  const { opened, open } = gate();
  owner.on('foo', () => opened.then(() => done));
  owner.start();
  owner.queue.add(keyOf('foo'));
  await owner.ran('foo', 1);
  const stopped = owner.queue.stop(0).then(() => 'stopped');
  expect(await Promise.race([stopped, systemClock.sleep(15_000)])).toBe('stopped');
  open();
});

test('TestQueueDrainageUsingShutDownWithDrainWithDirtyItem: what was added while it ran is left for the next owner', async () => {
  const [owner, next] = [replica(), replica()];
  const { opened, open } = gate();
  owner.on('foo', () => opened.then(() => done));
  owner.start(1);
  owner.queue.add(keyOf('foo'));
  await owner.ran('foo', 1);
  next.queue.add(keyOf('foo'));
  await eventually(async () => (await inspection().keys(partOfQueue('dn:*'))).length === 1);
  const stopping = owner.queue.stop(20_000);
  open();
  await stopping;
  expect(owner.runs('foo')).toBe(1);
  next.start();
  await next.ran('foo', 1);
});

test('TestGarbageCollection: nothing of a key stays when its run is over', async () => {
  const owner = replica();
  owner.start();
  owner.queue.add(keyOf('foo'));
  owner.queue.addAfter(keyOf('foo'), 20);
  await owner.ran('foo', 2);
  await owner.settled();
  await owner.queue.stop(10_000);
  const left = await inspection().keys(partOfQueue('*'));
  const own = ['wq:due', 'wq:fail', 'id', 'meta', 'marker', 'events', 'pc', 'stalled-check'].map(partOfQueue);
  expect(left.filter((key) => !own.includes(key))).toEqual([]);
  expect(await dueAt('foo')).toBeNull();
});

test('TestSimpleQueue: a key does not run before its time', async () => {
  const owner = replica();
  owner.start();
  await owner.settled();
  const since = systemClock.monotonic();
  owner.queue.addAfter(keyOf('foo'), 300);
  await owner.ran('foo', 1);
  // Redis counts whole milliseconds.
  expect(systemClock.monotonic() - since).toBeGreaterThan(298);
});

test('TestAddTwoFireEarly: of two delays the shorter ends first, though it was added last', async () => {
  const owner = replica();
  owner.start(1);
  owner.queue.addAfter(keyOf('late'), 900);
  owner.queue.addAfter(keyOf('early'), 300);
  await owner.ran('late', 1);
  expect(owner.started).toEqual(['early', 'late']);
});

test('TestCopyShifting: delays end in the order of their times', async () => {
  const owner = replica();
  owner.start(1);
  for (const [name, delay] of [
    ['third', 1100],
    ['second', 700],
    ['first', 300],
  ] as const) {
    owner.queue.addAfter(keyOf(name), delay);
  }
  await owner.ran('third', 1);
  expect(owner.started).toEqual(['first', 'second', 'third']);
});

test('TestItemExponentialFailureRateLimiterOverFlow: the longest backoff is never exceeded', async () => {
  const owner = replica();
  owner.on('foo', () => Promise.reject(new Error('refused')));
  await inspection().hset(partOfQueue('wq:fail'), formatKey(keyOf('foo')), 100_000);
  owner.start();
  owner.queue.add(keyOf('foo'));
  const due = Number(await eventually(async () => (await dueAt('foo')) ?? undefined));
  const [seconds] = await inspection().time();
  const delay = due - Number(seconds) * 1000;
  expect(delay).toBeGreaterThan(LONGEST - 60_000);
  expect(delay).toBeLessThanOrEqual(LONGEST + 1000);
});

test('Controllerworkqueue/returns items in order', async () => {
  const owner = replica();
  for (const name of ['foo', 'bar', 'baz']) owner.queue.add(keyOf(name));
  owner.start(1);
  await owner.ran('baz', 1);
  expect(owner.started).toEqual(['foo', 'bar', 'baz']);
});

test("Controllerworkqueue/doesn't include non-ready items in Len()", async () => {
  const owner = replica();
  owner.queue.addAfter(keyOf('foo'), LONG);
  owner.queue.add(keyOf('baz'));
  owner.queue.addAfter(keyOf('bar'), LONG);
  owner.queue.add(keyOf('bal'));
  await eventually(async () => (await dueAt('bar')) !== null);
  expect(await owner.queue.depth()).toBe(2);
});

test('Controllerworkqueue/follows FIFO order in the new priority queue when item priority changes', async () => {
  const owner = replica();
  owner.queue.add(keyOf('foo'), { priority: 'resync' });
  await eventually(async () => (await owner.queue.depth()) === 1);
  owner.queue.add(keyOf('bar'));
  owner.queue.add(keyOf('foo'));
  await eventually(async () => (await inspection().llen(partOfQueue('wait'))) === 2);
  owner.start(1);
  await owner.ran('foo', 1);
  expect(owner.started).toEqual(['bar', 'foo']);
});

test('TestHighPriorityItemThatBecameReadyIsReturnedBeforeLowPriorityItem: what was waited for is an event', async () => {
  const owner = replica();
  const { opened, open } = gate();
  owner.on('first', () => opened.then(() => done));
  owner.start(1);
  await owner.settled();
  owner.queue.add(keyOf('first'));
  await owner.ran('first', 1);
  owner.queue.add(keyOf('low'), { priority: 'resync' });
  owner.queue.addAfter(keyOf('prio'), 100);
  await eventually(async () => (await owner.queue.depth()) === 2);
  open();
  await owner.ran('low', 1);
  expect(owner.started.slice(1)).toEqual(['first', 'prio', 'low']);
});
