import type { Clock, Key, Logger, Metrics, Random, Result } from '../kernel/index.ts';
import type { RedisConnections } from '../redis/index.ts';

/** What a run is given besides its key. */
export interface ReconcileContext {
  /** Aborts when the run's result is no longer wanted: the lock was lost or the queue was stopped. */
  readonly signal: AbortSignal;
  /** To be called right before each write. @throws LeaseLostError when another worker may have the key by now */
  readonly guard: () => void;
}

/** Brings the object that a key names closer to what is wanted. */
export type Reconcile = (key: Key, context: ReconcileContext) => Promise<Result>;

/** Events come before resyncs. */
export type Priority = 'event' | 'resync';

/** One shard's queue of keys. */
export interface KeyedQueue {
  readonly shard: string;
  add(key: Key, options?: { readonly priority?: Priority }): void;
  addAfter(key: Key, milliseconds: number): void;
  start(reconcile: Reconcile, options: { readonly concurrency: number; readonly guard: () => void }): void;
  stop(deadline: number): Promise<void>;
  depth(): Promise<number>;
}

export declare class Workqueues {
  constructor(options: {
    readonly redis: RedisConnections;
    readonly clock: Clock;
    readonly random: Random;
    readonly logger: Logger;
    readonly metrics: Metrics;
  });
  queue(shard: string): KeyedQueue;
  onDataLoss(callback: () => void): void;
  close(): Promise<void>;
}
