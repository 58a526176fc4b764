import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LeaseLostError, systemClock } from '../../src/kernel/index.ts';
import { eventually } from '../support/eventually.ts';
import { RedisServer } from '../support/redis-server.ts';
import { EpochsInMemory, ShardReplica } from '../support/shard-replica.ts';
import type { ShardReplicaOptions } from '../support/shard-replica.ts';

const SHARDS = ['hub', ...Array.from({ length: 11 }, (_, index) => `m${index}`)];

let server: RedisServer;
let inspection: Redis;
let tests = 0;
let keyPrefix: string;
let epochs: EpochsInMemory;
let replicas: ShardReplica[];

function replica(name: string, options: Partial<ShardReplicaOptions> = {}): ShardReplica {
  const one = new ShardReplica({ url: server.url, keyPrefix, name, epochs, ...options });
  replicas.push(one);
  return one;
}

/** Fails the test when two replicas ever hold a shard at the same time, as either of them sees it. */
function watchForTwoHolders(): () => readonly string[] {
  const seen: string[] = [];
  for (const one of replicas) {
    one.shards.onGained((shard) => {
      const others = replicas.filter((other) => other !== one && other.shards.holds(shard));
      seen.push(...others.map((other) => `${shard} is held by ${one.name} and ${other.name}`));
    });
  }
  return () => seen;
}

/** Keeps the event loop busy, as a long computation would. */
function freeze(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
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
  keyPrefix = `t${(tests += 1)}`;
  epochs = new EpochsInMemory();
  replicas = [];
});

afterEach(async () => {
  await Promise.all(replicas.map((one) => one.close()));
});

describe('shards', () => {
  it('are all held by a replica that is alone, each with an epoch that the hub knows', async () => {
    const a = replica('a');
    a.start(SHARDS);
    await a.holding(12, SHARDS);
    for (const shard of SHARDS) {
      expect(a.shards.guard(shard)).not.toThrow();
      expect(epochs.recorded.get(shard)).toEqual({ epoch: a.shards.epoch(shard), replica: 'a' });
    }
    expect(a.shards.replicas()).toEqual(['a']);
  });

  it('are spread evenly as replicas come, moving no more than needed, and never with two holders', async () => {
    const [a, b, c] = [replica('a'), replica('b'), replica('c')];
    const twoHolders = watchForTwoHolders();
    a.start(SHARDS);
    await a.holding(12, SHARDS);
    b.start(SHARDS);
    await b.holding(6, SHARDS);
    await a.holding(6, SHARDS);
    expect(a.lost).toHaveLength(6);
    c.start(SHARDS);
    await c.holding(4, SHARDS);
    await Promise.all([a.holding(4, SHARDS), b.holding(4, SHARDS)]);
    expect(a.lost.length + b.lost.length).toBe(6 + 4);
    expect(twoHolders()).toEqual([]);
    expect(c.shards.replicas()).toEqual(['a', 'b', 'c']);
  });

  it('of a replica that stops are taken over long before its lease would have ended, the others stay', async () => {
    const times = { duration: 15_000, renewDeadline: 10_000, retryPeriod: 2000 };
    const [a, b] = [replica('a', { times }), replica('b', { times })];
    const twoHolders = watchForTwoHolders();
    a.start(SHARDS);
    b.start(SHARDS);
    await eventually(() => a.held(SHARDS).length + b.held(SHARDS).length === 12);
    await b.holding(6, SHARDS);
    const [gained, lost] = [b.gained.length, b.lost.length];
    const stoppedAt = systemClock.monotonic();
    await a.close();
    await b.holding(12, SHARDS);
    expect(systemClock.monotonic() - stoppedAt).toBeLessThan(8000);
    expect(b.gained.length - gained).toBe(6);
    expect(b.lost.length).toBe(lost);
    expect(twoHolders()).toEqual([]);
  });

  it('that are handed over are released only when what runs has ended, and its guard passes until then', async () => {
    const [a, b] = [replica('a'), replica('b')];
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    a.shards.onLost(() => ended);
    a.start(['m0', 'm1']);
    await a.holding(2, ['m0', 'm1']);
    const guards = new Map(['m0', 'm1'].map((shard) => [shard, a.shards.guard(shard)]));
    b.start(['m0', 'm1']);
    const [moved = ''] = await eventually(() => a.lost.length > 0 && a.lost);
    await systemClock.sleep(500);
    expect(a.shards.holds(moved)).toBe(false);
    expect(guards.get(moved)).not.toThrow();
    expect(b.held([moved])).toEqual([]);
    end();
    await b.holding(1, [moved]);
    expect(guards.get(moved)).toThrow(LeaseLostError);
  });

  it('of a killed replica are taken over, and not before its lease ends', async () => {
    const program = fileURLToPath(new URL('../support/shard-replica-process.ts', import.meta.url));
    const child = spawn(process.execPath, [program, server.url, keyPrefix, 'killed', ...SHARDS]);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await eventually(() => output.split('\n').length > SHARDS.length, { message: 'the child holds all shards' });
    const before = await inspection.hgetall(`${keyPrefix}:{shards}:claims`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const survivor = replica('survivor');
    survivor.start(SHARDS);
    await eventually(() => survivor.shards.replicas().length > 0, { interval: 10 });
    expect(survivor.shards.replicas()).toEqual(['killed', 'survivor']);
    await survivor.holding(12, SHARDS);
    expect(survivor.shards.replicas()).toEqual(['survivor']);
    for (const { shard, epoch } of survivor.gained) expect(epoch).toBeGreaterThan(Number(before[shard]?.split('|')[1]));
  });

  it('that were removed are handed over to nobody and forgotten', async () => {
    const a = replica('a');
    a.start(['hub', 'm0']);
    await a.holding(2, ['hub', 'm0']);
    a.shards.setShards(['hub']);
    await eventually(async () => (await inspection.hexists(`${keyPrefix}:{shards}:claims`, 'm0')) === 0);
    expect(a.lost).toEqual(['m0']);
    expect(a.held(['hub', 'm0'])).toEqual(['hub']);
    expect([...epochs.recorded.keys()]).toEqual(['hub']);
  });
});

describe('a guard', () => {
  it('throws first thing after the process was frozen, and for ever, though the shard is regained', async () => {
    const a = replica('a');
    a.start(['hub']);
    await a.holding(1, ['hub']);
    const guard = a.shards.guard('hub');
    expect(guard).not.toThrow();
    freeze(1200);
    expect(guard).toThrow(LeaseLostError);
    expect(a.shards.holds('hub')).toBe(false);
    expect(a.lost).toEqual([]);
    await eventually(() => a.gained.length === 2, { interval: 10 });
    expect(a.lost).toEqual(['hub']);
    expect(a.gained[1]?.epoch).toBeGreaterThan(a.gained[0]?.epoch ?? Infinity);
    expect(guard).toThrow(LeaseLostError);
    expect(a.shards.guard('hub')).not.toThrow();
  });

  it('of a shard that is not held throws', () => {
    expect(replica('a').shards.guard('hub')).toThrow(LeaseLostError);
  });
});

describe('the hub', () => {
  it('refuses an epoch below the one it has: the shard is held only with a higher one', async () => {
    const recorded = Date.now() + 3_600_000;
    epochs.recorded.set('hub', { epoch: recorded, replica: 'elected by another Redis' });
    const a = replica('a');
    a.start(['hub', 'm0']);
    await a.holding(1, ['m0']);
    expect(a.held(['hub'])).toEqual([]);
    await a.holding(2, ['hub', 'm0']);
    expect(a.gained.find(({ shard }) => shard === 'hub')?.epoch).toBe(recorded + 1);
    expect(a.gained).toHaveLength(2);
  });

  it('that does not answer keeps shards from being held, until it does', async () => {
    epochs.failure = new Error('the hub does not answer');
    const a = replica('a');
    a.start(['hub']);
    await eventually(() => a.logger.lines.some(({ message }) => message.includes('does not confirm the epoch')));
    await systemClock.sleep(500);
    expect(a.held(['hub'])).toEqual([]);
    expect(a.gained).toEqual([]);
    epochs.failure = undefined;
    await a.holding(1, ['hub']);
  });
});

describe('when Redis', () => {
  it('is not there at first, nothing is held; when it comes, everything is', async () => {
    await server.kill();
    const a = replica('a');
    a.start(SHARDS);
    await systemClock.sleep(500);
    expect(a.held(SHARDS)).toEqual([]);
    await server.start();
    await a.holding(12, SHARDS);
  });

  it('goes, shards end at the deadline; when it comes back empty, they are held with higher epochs', async () => {
    const a = replica('a');
    a.start(['hub']);
    await a.holding(1, ['hub']);
    const guard = a.shards.guard('hub');
    await server.kill();
    await eventually(() => a.lost.length === 1, { interval: 10 });
    expect(guard).toThrow(LeaseLostError);
    await server.start();
    await a.holding(1, ['hub']);
    expect(a.gained[1]?.epoch).toBeGreaterThan(a.gained[0]?.epoch ?? Infinity);
  });

  it('hangs, shards end at the deadline, and stopping does not wait for it', async () => {
    const a = replica('a');
    a.start(['hub']);
    await a.holding(1, ['hub']);
    server.freeze();
    await eventually(() => !a.shards.holds('hub'), { interval: 10 });
    await a.close();
    server.thaw();
    expect(a.lost).toEqual(['hub']);
  });
});
