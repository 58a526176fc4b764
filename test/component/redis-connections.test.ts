import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noMetrics, systemClock } from '../../src/kernel/index.ts';
import { RedisConnections, Script } from '../../src/redis/index.ts';
import { eventually } from '../support/eventually.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { RedisServer } from '../support/redis-server.ts';

let server: RedisServer;
let inspection: Redis;
let logger: RecordingLogger;
let opened: RedisConnections[];

function connections(url = server.url, allowNoPassword = false): RedisConnections {
  const one = new RedisConnections({ url, keyPrefix: 'test', allowNoPassword, logger, metrics: noMetrics });
  opened.push(one);
  return one;
}

/** How long a command takes to be rejected. */
async function rejection(command: () => Promise<unknown>): Promise<number> {
  const startedAt = systemClock.monotonic();
  await expect(command()).rejects.toThrow();
  return systemClock.monotonic() - startedAt;
}

beforeAll(async () => {
  server = await RedisServer.create();
  await server.start();
  inspection = server.connect();
});

afterAll(async () => {
  inspection.disconnect();
  await server.stop();
});

beforeEach(() => {
  logger = new RecordingLogger();
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
});

describe('connections to Redis', () => {
  it('are opened when they are first asked for, and then are healthy', async () => {
    const redis = connections();
    let ready = 0;
    redis.onReady(() => (ready += 1));
    await systemClock.sleep(200);
    expect(redis.healthy()).toBe(false);
    redis.lease();
    redis.blocking();
    expect(redis.producer()).toBe(redis.producer());
    await eventually(() => redis.healthy(), { interval: 10 });
    expect(ready).toBe(1);
    expect(redis.lastError()).toBeUndefined();
  });

  it('run a script by its hash, also after the server has forgotten it', async () => {
    const redis = connections().producer();
    await eventually(() => redis.status === 'ready', { interval: 10 });
    const script = new Script(`return KEYS[1] .. ARGV[1]`);
    expect(await script.run(redis, ['a'], ['b'])).toBe('ab');
    await inspection.script('FLUSH');
    expect(await script.run(redis, ['c'], [1])).toBe('c1');
  });

  it('without a password are refused unless that is allowed, and send nothing', async () => {
    const url = server.url.replace(/:[^:@/]*@/, '');
    const refused = connections(url);
    await expect(refused.producer().ping()).rejects.toThrow();
    expect(refused.healthy()).toBe(false);
    expect(refused.lastError()).toContain('has no password');
    const allowed = connections(url, true);
    allowed.producer();
    await eventually(() => allowed.lastError()?.includes('NOAUTH'), { interval: 10 });
  });

  it('to a Redis that evicts keys are refused until it does not', async () => {
    await inspection.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const redis = connections();
    redis.producer();
    redis.lease();
    await eventually(() => redis.lastError()?.includes('must be noeviction'), { interval: 10 });
    await expect(redis.producer().set('a', 'b')).rejects.toThrow();
    expect(redis.healthy()).toBe(false);
    await inspection.config('SET', 'maxmemory-policy', 'noeviction');
    await eventually(() => redis.healthy(), { interval: 10 });
    expect(redis.lastError()).toBeUndefined();
  });

  it('to a read-only replica are refused until it is a master', async () => {
    await inspection.replicaof('127.0.0.1', 1);
    const redis = connections();
    redis.producer();
    await eventually(() => redis.lastError()?.includes('read-only replica'), { interval: 10 });
    await inspection.replicaof('NO', 'ONE');
    await eventually(() => redis.healthy(), { interval: 10 });
  });

  it('reject within their time while Redis hangs', async () => {
    const redis = connections();
    const [lease, producer] = [redis.lease(), redis.producer()];
    await eventually(() => redis.healthy(), { interval: 10 });
    server.freeze();
    try {
      const [ofLease, ofProducer] = await Promise.all([
        rejection(() => lease.ping()),
        rejection(() => producer.ping()),
      ]);
      expect(ofLease).toBeGreaterThan(1400);
      expect(ofProducer).toBeGreaterThan(ofLease);
      expect(ofProducer).toBeLessThan(8000);
    } finally {
      server.thaw();
    }
  });

  it('reject at once while Redis is down, say so once, come back by themselves, and close without it', async () => {
    const redis = connections();
    redis.lease();
    redis.blocking();
    const producer = redis.producer();
    let ready = 0;
    redis.onReady(() => (ready += 1));
    await eventually(() => ready === 1, { interval: 10 });
    await server.kill();
    await eventually(() => !redis.healthy(), { interval: 10 });
    await eventually(() => redis.lastError()?.includes('ECONNREFUSED'), { interval: 10 });
    const lines = logger.lines.length;
    expect(await rejection(() => producer.ping())).toBeLessThan(1000);
    await systemClock.sleep(1500);
    expect(logger.lines.length).toBe(lines);
    await server.start();
    await eventually(() => redis.healthy() && ready === 2, { interval: 10 });
    expect(await producer.ping()).toBe('PONG');
    await server.kill();
    await redis.close();
    await server.start();
    expect(() => redis.producer()).not.toThrow();
    await expect(producer.ping()).rejects.toThrow();
  });
});
