import type { MemberClusters } from '../clusters/index.ts';
import type { Controller } from '../controllers/index.ts';
import { MEMBER_CLUSTER, memberKey } from '../federation/index.ts';
import { HUB, TerminalError, WaitingError } from '../kernel/index.ts';
import type { Key, Logger, Result } from '../kernel/index.ts';
import type { Shards } from '../leadership/index.ts';
import type { Reconcile, ReconcileContext, Workqueues } from '../workqueue/index.ts';
import type { MemberWiring } from './member-wiring.ts';

/** Runs of a shard that was lost, or of a replica that stops, are given this long to end by themselves. */
const DRAIN_DEADLINE = 1000;

/**
 * The queue that a key runs in: its shard's. MemberClusters have one of their own beside it, so that a look at a member,
 * which tells why its keys hang, does not wait for them.
 */
export function queueOf({ cluster, kind }: Pick<Key, 'cluster' | 'kind'>): string {
  return kind === MEMBER_CLUSTER ? `${cluster}/looks` : cluster;
}

/** What a runner plays together. */
export interface ShardRunnerOptions {
  readonly shards: Pick<Shards, 'holds' | 'guard' | 'onGained' | 'onLost'>;
  readonly queues: Pick<Workqueues, 'queue' | 'remove'>;
  /** Whether there is (still) such a shard. */
  readonly isShard: (shard: string) => boolean;
  readonly logger: Logger;
  readonly members: Pick<MemberClusters, 'engaged' | 'disengage'>;
  /** The wiring of an engaged member. */
  readonly wiringOf: (cluster: string) => Pick<MemberWiring, 'enqueueAll' | 'reconcile'> | undefined;
  /** Engages, probes and lets go of the members, each in its own shard. */
  readonly memberClusters: Pick<Controller, 'reconcile'>;
  /** The hub shard's controllers. */
  readonly hub: readonly Pick<Controller, 'kind' | 'keys' | 'reconcile'>[];
  readonly concurrency: number;
}

/**
 * What a replica runs, by the shards that it owns: a shard that is gained starts its queue with every key in it, one
 * that is lost stops its queue and lets go of the member.
 */
export class ShardRunner {
  readonly #options: ShardRunnerOptions;

  constructor(options: ShardRunnerOptions) {
    this.#options = options;
    options.shards.onGained((shard) => this.#gain(shard));
    options.shards.onLost((shard) => this.#release(shard));
  }

  /** Looks at everything of the shards that are owned: after Redis lost what was queued. */
  enqueueOwned(shards: readonly string[]): void {
    for (const shard of shards.filter((name) => this.#options.shards.holds(name))) this.#enqueueAll(shard);
  }

  /** Stops the queues of these shards and lets go of their members, each by its deadline. */
  async stop(shards: readonly string[]): Promise<void> {
    await Promise.all(shards.map((shard) => this.#release(shard)));
  }

  #gain(shard: string): void {
    const { queues, shards, concurrency, memberClusters } = this.#options;
    const guard = shards.guard(shard);
    queues.queue(shard).start(shard === HUB ? this.#reconcileHub : this.#reconcileMember, { concurrency, guard });
    if (shard !== HUB) {
      const look: Reconcile = (key, context) => memberClusters.reconcile(key, context);
      queues.queue(looksOf(shard)).start(look, { concurrency: 1, guard });
    }
    this.#enqueueAll(shard);
  }

  /** While a shard is handed over, its release waits for this: runs that end by themselves may still write. */
  async #release(shard: string): Promise<void> {
    const { queues, members, isShard, logger } = this.#options;
    const names = shard === HUB ? [shard] : [shard, looksOf(shard)];
    await Promise.all(names.map((name) => queues.queue(name).stop(DRAIN_DEADLINE)));
    if (shard === HUB) return;
    await members.disengage(shard);
    if (isShard(shard)) return;
    try {
      await Promise.all(names.map((name) => queues.remove(name)));
    } catch (error) {
      logger.info('the queue of a cluster that was removed stays in redis', { cluster: shard, error });
    }
  }

  #enqueueAll(shard: string): void {
    const queue = this.#options.queues.queue(shard);
    if (shard === HUB) {
      for (const key of this.#options.hub.flatMap((each) => each.keys())) queue.add(key, { priority: 'event' });
      return;
    }
    this.#options.queues.queue(looksOf(shard)).add(memberKey(shard));
    this.#options.wiringOf(shard)?.enqueueAll();
  }

  readonly #reconcileHub = (key: Key, context: ReconcileContext): Promise<Result> => {
    const controller = this.#options.hub.find(({ kind }) => kind === key.kind);
    if (controller === undefined) throw new TerminalError(`no reconciler for ${key.kind} on the hub`);
    return controller.reconcile(key, context);
  };

  readonly #reconcileMember = (key: Key, context: ReconcileContext): Promise<Result> => {
    const wiring = this.#options.members.engaged(key.cluster) && this.#options.wiringOf(key.cluster);
    if (wiring === undefined) throw new WaitingError(`${key.cluster} is not engaged`);
    return wiring.reconcile(key, context);
  };
}

function looksOf(shard: string): string {
  return queueOf(memberKey(shard));
}
