/**
 * A process that adds keys to the queue of one shard and works it: Atoll's queue, or BullMQ as it comes. Says how long that took.
 *
 * @module
 */
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { done, noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { Key } from '../../src/kernel/index.ts';
import { RedisConnections } from '../../src/redis/index.ts';
import { Workqueues } from '../../src/workqueue/index.ts';
import type { KeyedQueue } from '../../src/workqueue/index.ts';
import { eventually } from '../../test/support/eventually.ts';
import { measure } from '../own-process.ts';
import type { Jobs, Latency, Question, QueueQuestion, Shares, Singles } from './questions.ts';

const BATCH = 500;
const KEY_PREFIX = 'bench';

/** What runs keys by their names. */
interface Contestant {
  readonly add: (names: readonly string[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

type Run = (name: string) => Promise<void> | void;

function keyOf(shard: string, name: string): Key {
  return { cluster: shard, kind: 'RedisCluster.workloads.atoll.dev', namespace: 'bench', name };
}

/** Atoll's queue of a shard, worked. */
function openAtoll({ url, shard, concurrency }: QueueQuestion, run: Run): Contestant & { readonly queue: KeyedQueue } {
  const parts = { logger: silentLogger, metrics: noMetrics };
  const redis = new RedisConnections({ ...parts, url, keyPrefix: KEY_PREFIX, allowNoPassword: false });
  const workqueues = new Workqueues({ ...parts, redis, clock: systemClock, random: Math.random, maxConcurrency: 64 });
  const queue = workqueues.queue(shard);
  const reconcile = async ({ name }: Key): Promise<typeof done> => {
    await run(name);
    return done;
  };
  queue.start(reconcile, { concurrency, guard: () => undefined });
  return {
    queue,
    add: (names) => {
      for (const name of names) queue.add(keyOf(shard, name));
      return Promise.resolve();
    },
    close: async () => {
      await workqueues.close();
      await redis.close();
    },
  };
}

/** BullMQ as it comes: it neither deduplicates nor backs off. */
function openBullMq({ url, shard, concurrency }: QueueQuestion, run: Run): Contestant {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue<Key>(`{${shard}}`, { connection, prefix: 'bare' });
  const work = async ({ data }: { readonly data: Key }): Promise<void> => run(data.name);
  const worker = new Worker<Key>(`{${shard}}`, work, { connection, prefix: 'bare', concurrency });
  const opts = { removeOnComplete: true, removeOnFail: true };
  return {
    add: async (names) => {
      for (let from = 0; from < names.length; from += BATCH) {
        const batch = names.slice(from, from + BATCH);
        await queue.addBulk(batch.map((name) => ({ name: 'reconcile', data: keyOf(shard, name), opts })));
      }
    },
    close: async () => {
      await worker.close();
      await queue.close();
      connection.disconnect();
    },
  };
}

/** Milliseconds that so many keys took, from the first add until the last has run; a tenth warms up before. */
async function measureJobs(question: Jobs): Promise<number> {
  let left = 0;
  let finished: () => void = () => undefined;
  const run = (): void => {
    left -= 1;
    if (left === 0) finished();
  };
  const contestant = question.by === 'atoll' ? openAtoll(question, run) : openBullMq(question, run);
  const work = async (count: number, name: string): Promise<number> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    [left, finished] = [count, resolve];
    const since = systemClock.monotonic();
    await contestant.add(Array.from({ length: count }, (_, index) => `${name}-${index}`));
    await promise;
    return systemClock.monotonic() - since;
  };
  await work(question.count / 10, 'warm');
  const elapsed = await work(question.count, 'k');
  await contestant.close();
  return elapsed;
}

/** Milliseconds from adding a key to a worker that has nothing to do until it runs. */
async function measureSingles(question: Singles): Promise<readonly number[]> {
  let started: () => void = () => undefined;
  const contestant = openAtoll(question, () => started());
  const times: number[] = [];
  for (let sample = -question.warmUp; sample < question.samples; sample += 1) {
    const { promise, resolve } = Promise.withResolvers<void>();
    started = resolve;
    const since = systemClock.monotonic();
    await contestant.add([`k${sample}`]);
    await promise;
    if (sample >= 0) times.push(systemClock.monotonic() - since);
    await systemClock.sleep(question.pause);
  }
  await contestant.close();
  return times;
}

/** Milliseconds from adding an event until its run has ended, beside a backlog of resyncs that are being run. */
async function measureLatency(question: Latency): Promise<readonly number[]> {
  const ended = new Map<string, () => void>();
  const { queue, close } = openAtoll(question, async (name) => {
    await systemClock.sleep(question.runTime);
    ended.get(name)?.();
  });
  const addBacklog = (): void => {
    for (let index = 0; index < question.backlog; index += 1) {
      queue.add(keyOf(question.shard, `bulk${index}`), { priority: 'resync' });
    }
  };
  const sample = async (name: string): Promise<number> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ended.set(name, resolve);
    const since = systemClock.monotonic();
    queue.add(keyOf(question.shard, name));
    await promise;
    return systemClock.monotonic() - since;
  };
  await sample('warm');
  addBacklog();
  const times: number[] = [];
  if (question.when === 'while it is added') times.push(await sample('first'));
  else await eventually(async () => (await queue.depth()) >= question.backlog * 0.8);
  for (let index = 0; times.length < question.samples; index += 1) {
    times.push(await sample(`event${index}`));
    await systemClock.sleep(question.pause);
  }
  if (question.backlog > 0 && question.when === 'while it waits' && (await queue.depth()) === 0)
    throw new Error('the backlog was gone before the last sample');
  await close();
  return times;
}

/** How many keys ran while all resyncs of a backlog did, beside events that add themselves again for ever. */
async function measureShares(question: Shares): Promise<number> {
  let runs = 0;
  let resyncs = 0;
  const { promise: drained, resolve } = Promise.withResolvers<void>();
  const { queue, add, close } = openAtoll(question, (name) => {
    runs += 1;
    if (name.startsWith('event')) return void add([name]);
    resyncs += 1;
    if (resyncs === question.backlog) resolve();
  });
  await add(Array.from({ length: question.stream }, (_, index) => `event${index}`));
  await eventually(() => runs > 100);
  for (let index = 0; index < question.backlog; index += 1) {
    queue.add(keyOf(question.shard, `bulk${index}`), { priority: 'resync' });
  }
  const before = runs;
  await drained;
  const during = runs - before;
  await close();
  return during;
}

measure(async (question: Question): Promise<unknown> => {
  switch (question.what) {
    case 'jobs':
      return measureJobs(question);
    case 'singles':
      return measureSingles(question);
    case 'latency':
      return measureLatency(question);
    case 'shares':
      return measureShares(question);
  }
});
