import { describe, expect, it } from 'vitest';
import { done, systemClock } from '../../src/kernel/index.ts';
import { eventually } from '../support/eventually.ts';
import { gate, keyOf } from '../support/queue-replica.ts';
import { useQueues } from '../support/use-queues.ts';

/** Long enough never to come in a test. */
const LONG = 600_000;

const { inspection, partOfQueue, replica, dueAt } = useQueues();

/** How often anybody had a key's failures forgotten. */
async function forgets(): Promise<number> {
  return Number(/cmdstat_hdel:calls=(\d+)/.exec(await inspection().info('commandstats'))?.[1] ?? 0);
}

describe('a stream of events that never ends', () => {
  it('does not keep resyncs waiting for ever: of nine runs one is theirs', async () => {
    const owner = replica();
    const stream = ['e0', 'e1', 'e2', 'e3'];
    for (const name of stream) {
      owner.on(name, () => {
        owner.queue.add(keyOf(name));
        return Promise.resolve(done);
      });
    }
    for (const name of stream) owner.queue.add(keyOf(name));
    for (let index = 0; index < 20; index += 1) owner.queue.add(keyOf(`bulk${index}`), { priority: 'resync' });
    await eventually(async () => (await owner.queue.depth()) === 24);
    owner.start(1);
    await owner.ran('bulk19', 1);
    const order = owner.started.filter((name) => name.startsWith('bulk'));
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => `bulk${index}`));
    expect(owner.started.length).toBeGreaterThan(20 * 8);
  });
});

describe('the ceiling of a replica', () => {
  it('bounds what runs in all queues, and lets each queue run one key', async () => {
    const owner = replica({ maxConcurrency: 2 });
    const other = owner.workqueues.queue('m2');
    const { opened, open } = gate();
    for (const name of ['a', 'b', 'c']) owner.on(name, async () => opened.then(() => done));
    const ofOther: string[] = [];
    owner.start(4);
    other.start(
      async ({ name }) => {
        ofOther.push(name);
        await opened;
        return done;
      },
      { concurrency: 4, guard: () => undefined },
    );
    for (const name of ['a', 'b', 'c']) owner.queue.add(keyOf(name));
    await eventually(() => owner.started.length === 2);
    other.add({ ...keyOf('d'), cluster: 'm2' });
    other.add({ ...keyOf('e'), cluster: 'm2' });
    await eventually(() => ofOther.length === 1);
    await eventually(async () => (await inspection().llen(partOfQueue('active'))) === 3);
    expect(owner.started).toHaveLength(2);
    open();
    await owner.ran('c', 1);
    await eventually(() => ofOther.length === 2);
  });
});

it('retries are held back by a token bucket besides their own backoff, when one is wanted', async () => {
  const owner = replica({ retryLimit: { perSecond: 2, burst: 1 } });
  const times = new Map<string, number[]>();
  for (const name of ['a', 'b', 'c']) {
    owner.on(name, (run) => {
      times.set(name, [...(times.get(name) ?? []), systemClock.monotonic()]);
      return run === 1 ? Promise.reject(new Error('refused')) : Promise.resolve(done);
    });
  }
  owner.start(1);
  for (const name of ['a', 'b', 'c']) owner.queue.add(keyOf(name));
  for (const name of ['a', 'b', 'c']) await owner.ran(name, 2);
  const waits = [...times.values()].map(([first = 0, second = 0]) => second - first).toSorted((a, b) => a - b);
  expect(waits[1]).toBeGreaterThan(400);
  expect(waits[2]).toBeGreaterThan(900);
});

it('nothing of a queue stays in Redis when its shard is removed', async () => {
  const owner = replica();
  owner.on('a', () => Promise.reject(new Error('refused')));
  owner.start(1);
  owner.queue.add(keyOf('a'));
  await owner.ran('a', 3);
  owner.queue.addAfter(keyOf('b'), LONG);
  await eventually(async () => (await dueAt('b')) !== null);
  await owner.workqueues.remove('m1');
  expect(await inspection().keys(partOfQueue('*'))).toEqual([]);
});

it('an event is written to Redis before the resyncs that were added in the same moment', async () => {
  // Before anybody sends anything: a monitor that begins amid traffic takes some of it for its answer.
  const watching = await inspection().monitor();
  const owner = replica();
  const written: string[] = [];
  watching.on('monitor', (_time: string, command: readonly string[]) => {
    const name = /bulk\d+|fresh/.exec(command.join(' '))?.[0];
    if (name !== undefined) written.push(name);
  });
  for (let index = 0; index < 1000; index += 1) owner.queue.add(keyOf(`bulk${index}`), { priority: 'resync' });
  owner.queue.add(keyOf('fresh'));
  await eventually(() => written.includes('bulk999'));
  watching.disconnect();
  expect(written[0]).toBe('fresh');
});

it('a key of a shard that comes back while its old queue is removed runs', async () => {
  const owner = replica();
  const { opened, open } = gate();
  const ran: string[] = [];
  owner.on('old', () => opened.then(() => done));
  owner.start(1);
  owner.queue.add(keyOf('old'));
  await owner.ran('old', 1);
  const removal = owner.workqueues.remove('m1');
  const fresh = owner.workqueues.queue('m1');
  owner.workqueues.onDataLoss(() => fresh.add(keyOf('new')));
  fresh.add(keyOf('new'));
  await eventually(async () => (await fresh.depth()) > 0);
  open();
  await removal;
  fresh.start(
    async ({ name }) => {
      ran.push(name);
      return Promise.resolve(done);
    },
    { concurrency: 1, guard: () => undefined },
  );
  await eventually(() => ran.includes('new'));
  await fresh.stop(5000);
});

it('what is added to a queue that was removed is not written any more', async () => {
  const owner = replica();
  owner.start(1);
  await owner.settled();
  await owner.workqueues.remove('m1');
  owner.queue.add(keyOf('late'));
  owner.queue.addAfter(keyOf('later'), LONG);
  await systemClock.sleep(200);
  expect(await inspection().keys(partOfQueue('*'))).toEqual([]);
});

it('a success of a key that never failed costs no request of its own, also when the queue was started before Redis was there', async () => {
  const owner = replica();
  owner.start(1);
  await owner.settled();
  const before = await forgets();
  for (let times = 0; times < 5; times += 1) await owner.settled();
  await owner.queue.stop(5000);
  expect(await forgets()).toBe(before);
});
