import { Redis } from 'ioredis';
import { done, noMetrics, requeueAfter, silentLogger, systemClock } from '../../src/kernel/index.ts';
import { RedisConnections } from '../../src/redis/index.ts';
import { Workqueues } from '../../src/workqueue/index.ts';
import type { Reconcile } from '../../src/workqueue/index.ts';

// A worker of the shard "m1" in a process of its own, for a test that kills it. What it does is noted in Redis by name of the
// key: `version` is what was asked for, `seen` what the last run that ended saw, `holder` who runs it, `overlaps` what must not be.
const [url = '', keyPrefix = ''] = process.argv.slice(2);
const notes = new Redis(url);
const redis = new RedisConnections({
  url,
  keyPrefix,
  allowNoPassword: false,
  logger: silentLogger,
  metrics: noMetrics,
});
const queues = new Workqueues({
  maxConcurrency: 64,
  redis,
  clock: systemClock,
  random: Math.random,
  logger: silentLogger,
  metrics: noMetrics,
});

const reconcile: Reconcile = async ({ name }, { guard }) => {
  const version = (await notes.hget('version', name)) ?? '0';
  const holder = `${process.pid} ${Math.random()}`;
  await notes.hset('holder', name, holder);
  await systemClock.sleep(Math.random() * 40);
  if (Math.random() < 0.15) throw new Error('by chance');
  guard();
  if ((await notes.hget('holder', name)) !== holder) await notes.hincrby('overlaps', name, 1);
  await notes.hset('seen', name, version);
  await notes.incr('runs');
  return Math.random() < 0.15 ? requeueAfter(Math.random() * 200) : done;
};

queues.queue('m1').start(reconcile, { concurrency: 8, guard: () => undefined });
