import type { Clock, Logger } from '../kernel/index.ts';
import type { DelayStore } from './delay-store.ts';
import type { Priority } from './keyed-queue.ts';
import type { ReadyQueue } from './ready-queue.ts';

/** Keys written to Redis in one round trip. */
const BATCH = 500;
/** Between attempts to write what Redis did not take. */
const RETRY = 1000;

/** What {@link Intake} needs. */
export interface IntakeOptions {
  readonly ready: ReadyQueue;
  readonly delays: DelayStore;
  /** Whether writing makes sense now; {@link Intake.flush} is called when that changes. */
  readonly isOpen: () => boolean;
  /** Called after delays were written, with the shortest. */
  readonly onDelayed: (milliseconds: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Takes keys at once, and keeps them until Redis has them. What is added twice meanwhile is written once. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #adds = new Map<string, Priority>();
  /** Key → when it is due on the monotonic clock. */
  readonly #delays = new Map<string, number>();
  #flushing: Promise<void> | undefined;
  #retryPending = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** How many adds Redis does not have yet. */
  get size(): number {
    return this.#adds.size;
  }

  add(key: string, priority: Priority): void {
    mergeAdd(this.#adds, key, priority);
    void this.flush();
  }

  addAfter(key: string, milliseconds: number): void {
    mergeDelay(this.#delays, key, this.#options.clock.monotonic() + milliseconds);
    void this.flush();
  }

  /** Writes everything, or as much as Redis takes; the rest is tried again later. Never rejects. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush();
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    // Adds of one turn of the event loop go together.
    await Promise.resolve();
    let isTaken = true;
    while (isTaken && this.#options.isOpen() && this.#adds.size + this.#delays.size > 0) {
      isTaken = await this.#writeBatch();
    }
    // In the same turn as the last look, so that no add can fall in between.
    this.#flushing = undefined;
    if (!isTaken) this.#retryLater();
  }

  async #writeBatch(): Promise<boolean> {
    const { ready, delays, onDelayed, clock, logger } = this.#options;
    const adds = takeFrom(this.#adds);
    const due = takeFrom(this.#delays);
    try {
      if (adds.size > 0) await ready.add(adds);
      if (due.size === 0) return true;
      const now = clock.monotonic();
      const remaining = new Map([...due].map(([key, at]) => [key, Math.max(0, Math.ceil(at - now))]));
      await delays.addAfter(remaining);
      onDelayed(Math.min(...remaining.values()));
      return true;
    } catch (error) {
      for (const [key, priority] of adds) mergeAdd(this.#adds, key, priority);
      for (const [key, at] of due) mergeDelay(this.#delays, key, at);
      logger.debug('redis did not take the keys: they are kept', { keys: this.#adds.size + this.#delays.size, error });
      return false;
    }
  }

  #retryLater(): void {
    if (this.#retryPending) return;
    this.#retryPending = true;
    this.#options.clock.after(RETRY, () => {
      this.#retryPending = false;
      void this.flush();
    });
  }
}

function mergeAdd(adds: Map<string, Priority>, key: string, priority: Priority): void {
  if (adds.get(key) !== 'event') adds.set(key, priority);
}

function mergeDelay(delays: Map<string, number>, key: string, at: number): void {
  delays.set(key, Math.min(at, delays.get(key) ?? Infinity));
}

/** Moves the oldest entries, a batch at most, into a map of their own. */
function takeFrom<V>(pending: Map<string, V>): Map<string, V> {
  const batch = new Map([...pending].slice(0, BATCH));
  for (const key of batch.keys()) pending.delete(key);
  return batch;
}
