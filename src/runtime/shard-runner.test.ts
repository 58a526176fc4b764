import { beforeEach, describe, expect, it } from 'vitest';
import { HUB, TerminalError, WaitingError, done, silentLogger } from '../kernel/index.ts';
import type { Key } from '../kernel/index.ts';
import type { KeyedQueue, Reconcile } from '../workqueue/index.ts';
import { ShardRunner } from './shard-runner.ts';

const context = { guard: () => undefined, signal: new AbortController().signal };

/** What happened, in order. */
let log: string[];
let held: Set<string>;
let engaged: Set<string>;
let gain: (shard: string, epoch: number) => void;
let lose: (shard: string) => void | Promise<void>;
let reconcilers: Map<string, Reconcile>;
/** Opened, runs that a stopping queue waits for may end. */
let drain: PromiseWithResolvers<void>;
let runner: ShardRunner;
/** The cluster that is a member no more. */
let removed: string;

function key(cluster: string, kind: string): Key {
  return { cluster, kind, namespace: 'shop', name: 'sessions' };
}

function queueNamed(shard: string): KeyedQueue {
  return {
    shard,
    add: ({ cluster, kind, name }) => void log.push(`add ${cluster} ${kind.slice(0, kind.indexOf('.'))} ${name}`),
    addAfter: () => undefined,
    start: (reconcile) => {
      log.push(`start ${shard}`);
      reconcilers.set(shard, reconcile);
    },
    stop: async () => {
      log.push(`stop ${shard}`);
      await drain.promise;
      log.push(`stopped ${shard}`);
    },
    depth: () => Promise.resolve(0),
  };
}

beforeEach(() => {
  log = [];
  removed = '';
  held = new Set();
  engaged = new Set();
  reconcilers = new Map();
  drain = Promise.withResolvers();
  runner = new ShardRunner({
    shards: {
      holds: (shard) => held.has(shard),
      guard: () => () => undefined,
      onGained: (callback) => (gain = callback),
      onLost: (callback) => (lose = callback),
    },
    queues: {
      queue: queueNamed,
      remove: (name) => {
        log.push(`remove ${name}`);
        return Promise.resolve();
      },
    },
    isShard: (shard) => shard !== removed,
    logger: silentLogger,
    memberClusters: { reconcile: () => Promise.resolve(done) },
    members: {
      engaged: (name) => (engaged.has(name) ? ({} as never) : undefined),
      disengage: (name) => {
        log.push(`disengage ${name}`);
        return Promise.resolve();
      },
    },
    wiringOf: (cluster) =>
      engaged.has(cluster)
        ? { enqueueAll: () => void log.push(`enqueue all of ${cluster}`), reconcile: () => Promise.resolve(done) }
        : undefined,
    hub: [
      {
        kind: 'GitSource.federation.atoll.dev',
        keys: () => [key(HUB, 'GitSource.federation.atoll.dev')],
        reconcile: () => Promise.resolve(done),
      },
    ],
    concurrency: 4,
  });
});

describe('a shard that is gained', () => {
  it('starts its queue with every key of the hub', () => {
    gain(HUB, 1);
    expect(log).toEqual(['start hub', 'add hub GitSource sessions']);
  });

  it('starts its queue with the look at its member, by which all others come', () => {
    gain('eu-1', 1);
    expect(log).toEqual(['start eu-1', 'start eu-1/looks', 'add eu-1 MemberCluster eu-1']);
  });
});

describe('a shard that is lost', () => {
  it('holds back its release until what runs has ended and the member is let go of', async () => {
    gain('eu-1', 1);
    let released = false;
    const handOver = Promise.resolve(lose('eu-1')).then(() => (released = true));
    await Promise.resolve();
    expect([released, log.at(-1)]).toEqual([false, 'stop eu-1/looks']);
    drain.resolve();
    await handOver;
    expect(log.slice(-5)).toEqual([
      'stop eu-1',
      'stop eu-1/looks',
      'stopped eu-1',
      'stopped eu-1/looks',
      'disengage eu-1',
    ]);
  });

  it('because its member was removed leaves nothing in Redis', async () => {
    gain('eu-1', 1);
    removed = 'eu-1';
    drain.resolve();
    await lose('eu-1');
    expect(log.slice(-3)).toEqual(['disengage eu-1', 'remove eu-1', 'remove eu-1/looks']);
  });

  it('of the hub has no member to let go of', async () => {
    gain(HUB, 1);
    drain.resolve();
    await lose(HUB);
    expect(log.slice(-2)).toEqual(['stop hub', 'stopped hub']);
  });

  it('may be gained again while it is being let go of', () => {
    gain('eu-1', 1);
    void lose('eu-1');
    gain('eu-1', 2);
    const ofKeys = log.filter((entry) => entry.endsWith(' eu-1') && !entry.startsWith('add'));
    expect(ofKeys).toEqual(['start eu-1', 'stop eu-1', 'start eu-1']);
  });
});

describe('a key', () => {
  it('of a kind that nobody reconciles is not tried again', async () => {
    gain(HUB, 1);
    await expect(run(HUB, 'Unknown.example.org')).rejects.toThrow(TerminalError);
  });

  it('of a member waits until it is engaged', async () => {
    gain('eu-1', 1);
    await expect(run('eu-1', 'FederatedRedisCluster.federation.atoll.dev')).rejects.toThrow(WaitingError);
    engaged.add('eu-1');
    expect(await run('eu-1', 'FederatedRedisCluster.federation.atoll.dev')).toEqual(done);
  });

  it('that looks at the member itself does not wait for that: it has a queue of its own', async () => {
    gain('eu-1', 1);
    expect(await reconcilers.get('eu-1/looks')?.(key('eu-1', 'MemberCluster.federation.atoll.dev'), context)).toEqual(
      done,
    );
  });
});

describe('after Redis lost what was queued', () => {
  it('every key of the shards that are held is added again, and no other', () => {
    held = new Set(['eu-1']);
    engaged = new Set(['eu-1', 'us-1']);
    runner.enqueueOwned([HUB, 'eu-1', 'us-1']);
    expect(log).toEqual(['add eu-1 MemberCluster eu-1', 'enqueue all of eu-1']);
  });
});

async function run(shard: string, kind: string): Promise<unknown> {
  return reconcilers.get(shard)?.(key(shard, kind), context);
}
