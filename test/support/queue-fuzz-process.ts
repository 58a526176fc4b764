import { Redis } from 'ioredis';
import { done, noMetrics, requeueAfter, silentLogger, systemClock } from '../../src/kernel/index.ts';
import { RedisConnections } from '../../src/redis/index.ts';
import { Workqueues } from '../../src/workqueue/index.ts';
import type { Reconcile } from '../../src/workqueue/index.ts';

// A worker of the shard "m1" in a process of its own, for tests that kill and freeze it. What it does is noted by name of
// the key in a Redis that is not the queue's: `version` is what was asked for, `seen` what the last run that ended saw,
// `holder` who runs it, `overlaps` what must not be.
const [url = '', keyPrefix = '', notesUrl = ''] = process.argv.slice(2);
const notes = new Redis(notesUrl);
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

/** In one step, as one request to an API server is: what is between a guard and its write is not the queue's to close. */
const WRITE = `
  redis.call('INCR', 'runs')
  if redis.call('HGET', 'holder', ARGV[1]) ~= ARGV[2] then redis.call('HINCRBY', 'overlaps', ARGV[1], 1) end
  redis.call('HSET', 'seen', ARGV[1], ARGV[3])
  return 0`;

const reconcile: Reconcile = async ({ name }, { guard }) => {
  const version = (await notes.hget('version', name)) ?? '0';
  const holder = `${process.pid} ${Math.random()}`;
  // That somebody holds a key is a write as well: one that was frozen until now may not say it.
  guard();
  await notes.hset('holder', name, holder);
  await systemClock.sleep(Math.random() * 40);
  if (Math.random() < 0.15) {
    await notes.incr('failures');
    throw new Error('by chance');
  }
  guard();
  await notes.eval(WRITE, 0, name, holder, version);
  return Math.random() < 0.15 ? requeueAfter(Math.random() * 200) : done;
};

queues.queue('m1').start(reconcile, { concurrency: 8, guard: () => undefined });
