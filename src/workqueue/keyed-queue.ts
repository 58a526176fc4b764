import type { Key, Result } from '../kernel/index.ts';

/** What a run is given besides its key. */
export interface ReconcileContext {
  /** Aborts when the run's result is no longer wanted: its lock was lost, or its queue's time to stop is over. */
  readonly signal: AbortSignal;
  /** To be called right before each write. @throws LeaseLostError when another worker may have the key by now */
  readonly guard: () => void;
}

/** Brings the object that a key names closer to what is wanted. */
export type Reconcile = (key: Key, context: ReconcileContext) => Promise<Result>;

/** Events come before resyncs. A key that waits as a resync becomes an event when it is added as one, never the reverse. */
export type Priority = 'event' | 'resync';

/** How a key is added. */
export interface AddOptions {
  /** An event when nothing else is said. */
  readonly priority?: Priority;
}

/** How a queue is worked. */
export interface StartOptions {
  /** How many keys run at the same time. */
  readonly concurrency: number;
  /** Throws LeaseLostError when the shard is not (any longer) held; part of every run's guard. */
  readonly guard: () => void;
}

/** One shard's queue of keys. Any replica adds; only the shard's owner starts it. */
export interface KeyedQueue {
  readonly shard: string;
  add(key: Key, options?: AddOptions): void;
  /** Adds a key after a time; of several, the earliest counts. Zero or less adds it at once. */
  addAfter(key: Key, milliseconds: number): void;
  /** Begins to run keys. May be called again after `stop`. */
  start(reconcile: Reconcile, options: StartOptions): void;
  /** Takes no further key, waits for running ones for this many milliseconds, then abandons them. Never rejects. */
  stop(deadline: number): Promise<void>;
  /** How many keys are ready to run: not the running ones, nor those whose time has not come. */
  depth(): Promise<number>;
}
