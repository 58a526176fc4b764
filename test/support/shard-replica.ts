import { noMetrics, systemClock } from '../../src/kernel/index.ts';
import { Shards, StaleEpochError } from '../../src/leadership/index.ts';
import type { EpochStore, LeaseTimes } from '../../src/leadership/index.ts';
import { RedisConnections } from '../../src/redis/index.ts';
import { eventually } from './eventually.ts';
import { RecordingLogger } from './recording-logger.ts';

/** Lease times in the proportions of the real ones, a tenth as long. */
const shortTimes: LeaseTimes = { duration: 1500, renewDeadline: 1000, retryPeriod: 200 };

/** The hub's part, for tests that are about Redis: epochs in this process, compared and swapped as the hub does. */
export class EpochsInMemory implements EpochStore {
  readonly recorded = new Map<string, { readonly epoch: number; readonly replica: string }>();
  /** What the next calls throw. */
  failure: Error | undefined;

  raise(shard: string, epoch: number, replica: string, guard: () => void): Promise<void> {
    return this.#record(shard, { epoch, replica }, guard);
  }

  heartbeat(shard: string, epoch: number, replica: string, guard: () => void): Promise<void> {
    return this.#record(shard, { epoch, replica }, guard);
  }

  forget(shard: string, epoch: number, guard: () => void): Promise<void> {
    guard();
    if ((this.recorded.get(shard)?.epoch ?? 0) <= epoch) this.recorded.delete(shard);
    return Promise.resolve();
  }

  async #record(shard: string, next: { epoch: number; replica: string }, guard: () => void): Promise<void> {
    await systemClock.sleep(5);
    if (this.failure !== undefined) throw this.failure;
    const { epoch, replica } = this.recorded.get(shard) ?? { epoch: 0, replica: '' };
    if (epoch > next.epoch || (epoch === next.epoch && replica !== next.replica)) {
      throw new StaleEpochError(`epoch ${epoch} is recorded`, epoch);
    }
    guard();
    this.recorded.set(shard, next);
  }
}

/** What {@link ShardReplica} needs. */
export interface ShardReplicaOptions {
  readonly url: string;
  readonly keyPrefix: string;
  readonly name: string;
  readonly epochs?: EpochStore;
  readonly times?: LeaseTimes;
}

/** One replica of Atoll as far as its shards go. It records what it gained and lost. */
export class ShardReplica {
  readonly name: string;
  readonly redis: RedisConnections;
  readonly shards: Shards;
  readonly logger = new RecordingLogger();
  readonly gained: { readonly shard: string; readonly epoch: number }[] = [];
  readonly lost: string[] = [];

  constructor({ url, keyPrefix, name, epochs, times }: ShardReplicaOptions) {
    const { logger } = this;
    this.name = name;
    this.redis = new RedisConnections({ url, keyPrefix, allowNoPassword: false, logger, metrics: noMetrics });
    this.shards = new Shards({
      redis: this.redis,
      replica: name,
      times: times ?? shortTimes,
      epochs: epochs ?? new EpochsInMemory(),
      clock: systemClock,
      random: Math.random,
      logger,
      metrics: noMetrics,
    });
    this.shards.onGained((shard, epoch) => this.gained.push({ shard, epoch }));
    this.shards.onLost((shard) => {
      this.lost.push(shard);
    });
  }

  start(shards: readonly string[]): void {
    this.shards.setShards(shards);
    this.shards.start();
  }

  /** The shards, of the given ones, that are held now. */
  held(shards: readonly string[]): string[] {
    return shards.filter((shard) => this.shards.holds(shard));
  }

  /** Waits until exactly so many of the shards are held. */
  async holding(count: number, shards: readonly string[]): Promise<void> {
    await eventually(() => this.held(shards).length === count, {
      interval: 10,
      message: `${this.name} holds ${count} shards`,
    });
  }

  async close(): Promise<void> {
    await this.shards.stop();
    await this.redis.close();
  }
}
