import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { formatKey } from '../../src/kernel/index.ts';
import { keyOf, QueueReplica } from './queue-replica.ts';
import { RedisServer } from './redis-server.ts';

type Limits = ConstructorParameters<typeof QueueReplica> extends [string, string, ...infer Rest] ? Rest : never;

/** A Redis for a file of tests, in which each test has keys of its own, and replicas that are closed after it. */
export interface Queues {
  readonly server: () => RedisServer;
  /** For looking into Redis. */
  readonly inspection: () => Redis;
  /** The prefix of this test's keys. */
  readonly keyPrefix: () => string;
  /** What BullMQ and we call a part of the queue of the shard "m1" in Redis. */
  readonly partOfQueue: (part: string) => string;
  /** A further replica. */
  readonly replica: (...limits: Limits) => QueueReplica;
  /** How often a key failed, as Redis counts it. */
  readonly failures: (name: string) => Promise<string | null>;
  /** When a key is due, as Redis keeps it. */
  readonly dueAt: (name: string) => Promise<string | null>;
}

/** Registers what a file of tests about queues needs before and after its tests. */
export function useQueues(): Queues {
  let server: RedisServer;
  let inspection: Redis;
  let tests = 0;
  let replicas: QueueReplica[] = [];
  const keyPrefix = (): string => `t${tests}`;
  const partOfQueue = (part: string): string => `${keyPrefix()}:queue:{m1}:${part}`;

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
    tests += 1;
    replicas = [];
  });
  afterEach(async () => {
    await Promise.all(replicas.map((one) => one.close()));
  });

  return {
    server: () => server,
    inspection: () => inspection,
    keyPrefix,
    partOfQueue,
    replica: (...limits) => {
      const one = new QueueReplica(server.url, keyPrefix(), ...limits);
      replicas.push(one);
      return one;
    },
    failures: (name) => inspection.hget(partOfQueue('wq:fail'), formatKey(keyOf(name))),
    dueAt: (name) => inspection.zscore(partOfQueue('wq:due'), formatKey(keyOf(name))),
  };
}
