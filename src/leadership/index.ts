import type { Clock, Logger, Metrics, Random } from '../kernel/index.ts';
import type { KubernetesClient } from '../kubernetes/index.ts';
import type { RedisConnections } from '../redis/index.ts';

/** Durations of a lease in milliseconds: duration > renewDeadline > 1.2 · retryPeriod. */
export interface LeaseTimes {
  readonly duration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
}

/** Where the highest epoch of a shard is recorded for good: the judge when Redis elects twice. */
export interface EpochStore {
  /** Records a new epoch by compare-and-swap. @throws when a higher one is recorded or the store cannot be reached */
  raise(shard: string, epoch: number, replica: string): Promise<void>;
  /** Shows that the holder is alive. */
  heartbeat(shard: string, epoch: number, replica: string): Promise<void>;
}

export declare class Shards {
  constructor(options: {
    readonly redis: RedisConnections;
    readonly replica: string;
    readonly times: LeaseTimes;
    readonly epochs: EpochStore;
    readonly clock: Clock;
    readonly random: Random;
    readonly logger: Logger;
    readonly metrics: Metrics;
  });
  setShards(names: readonly string[]): void;
  start(): void;
  stop(): Promise<void>;
  holds(shard: string): boolean;
  epoch(shard: string): number | undefined;
  guard(shard: string): () => void;
  onGained(callback: (shard: string, epoch: number) => void): void;
  onLost(callback: (shard: string) => void): void;
  replicas(): readonly string[];
}

export declare class LeaseEpochStore implements EpochStore {
  constructor(options: {
    readonly client: KubernetesClient;
    readonly namespace: string;
    readonly clock: Clock;
    readonly leaseDurationSeconds: number;
  });
  raise(shard: string, epoch: number, replica: string): Promise<void>;
  heartbeat(shard: string, epoch: number, replica: string): Promise<void>;
}

export { leaseRules } from './lease-rules.ts';
