import type { MemberClusters } from '../clusters/index.ts';
import type { Controller } from '../controllers/index.ts';
import { MEMBER_CLUSTER, memberKey } from '../federation/index.ts';
import { HUB, TerminalError, WaitingError } from '../kernel/index.ts';
import type { Key, Result } from '../kernel/index.ts';
import type { Shards } from '../leadership/index.ts';
import type { Reconcile, ReconcileContext, Workqueues } from '../workqueue/index.ts';
import type { MemberWiring } from './member-wiring.ts';

/** Runs of a shard that was lost, or of a replica that stops, are given this long to end by themselves. */
const DRAIN_DEADLINE = 1000;

/** What a runner plays together. */
export interface ShardRunnerOptions {
  readonly shards: Pick<Shards, 'holds' | 'guard' | 'onGained' | 'onLost'>;
  readonly queues: Pick<Workqueues, 'queue'>;
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
    const { queues, shards, concurrency } = this.#options;
    const reconcile: Reconcile = shard === HUB ? this.#reconcileHub : this.#reconcileMember;
    queues.queue(shard).start(reconcile, { concurrency, guard: shards.guard(shard) });
    this.#enqueueAll(shard);
  }

  /** While a shard is handed over, its release waits for this: runs that end by themselves may still write. */
  async #release(shard: string): Promise<void> {
    await this.#options.queues.queue(shard).stop(DRAIN_DEADLINE);
    if (shard !== HUB) await this.#options.members.disengage(shard);
  }

  #enqueueAll(shard: string): void {
    const queue = this.#options.queues.queue(shard);
    if (shard === HUB) {
      for (const key of this.#options.hub.flatMap((each) => each.keys())) queue.add(key, { priority: 'event' });
      return;
    }
    queue.add(memberKey(shard));
    this.#options.wiringOf(shard)?.enqueueAll();
  }

  readonly #reconcileHub = (key: Key, context: ReconcileContext): Promise<Result> => {
    const controller = this.#options.hub.find(({ kind }) => kind === key.kind);
    if (controller === undefined) throw new TerminalError(`no reconciler for ${key.kind} on the hub`);
    return controller.reconcile(key, context);
  };

  readonly #reconcileMember = (key: Key, context: ReconcileContext): Promise<Result> => {
    if (key.kind === MEMBER_CLUSTER) return this.#options.memberClusters.reconcile(key, context);
    const wiring = this.#options.members.engaged(key.cluster) && this.#options.wiringOf(key.cluster);
    if (wiring === undefined) throw new WaitingError(`${key.cluster} is not engaged`);
    return wiring.reconcile(key, context);
  };
}
