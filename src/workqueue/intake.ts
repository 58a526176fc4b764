import type { Clock, Logger } from '../kernel/index.ts';
import type { DelayStore } from './delay-store.ts';
import type { Priority } from './keyed-queue.ts';
import type { ReadyQueue } from './ready-queue.ts';

/** Keys written to Redis in one round trip: an event that comes meanwhile waits for no more than these. */
const BATCH = 200;
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

/** Takes keys at once, and keeps them until Redis has them: events first. What is added twice meanwhile is written once. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #events = new Set<string>();
  readonly #resyncs = new Set<string>();
  /** Key → when it is due on the monotonic clock. */
  readonly #delays = new Map<string, number>();
  #flushing: Promise<void> | undefined;
  #retryPending = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** How many adds Redis does not have yet. */
  get size(): number {
    return this.#events.size + this.#resyncs.size;
  }

  add(key: string, priority: Priority): void {
    this.#keep(key, priority);
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
    while (isTaken && this.#options.isOpen() && this.size + this.#delays.size > 0) {
      isTaken = await this.#writeBatch();
    }
    // In the same turn as the last look, so that no add can fall in between.
    this.#flushing = undefined;
    if (!isTaken) this.#retryLater();
  }

  async #writeBatch(): Promise<boolean> {
    const { ready, delays, onDelayed, clock, logger } = this.#options;
    const adds = this.#takeAdds();
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
      for (const [key, priority] of adds) this.#keep(key, priority);
      for (const [key, at] of due) mergeDelay(this.#delays, key, at);
      logger.debug('redis did not take the keys: they are kept', { keys: this.size + this.#delays.size, error });
      return false;
    }
  }

  #keep(key: string, priority: Priority): void {
    if (this.#events.has(key)) return;
    if (priority === 'resync') {
      this.#resyncs.add(key);
    } else {
      this.#resyncs.delete(key);
      this.#events.add(key);
    }
  }

  /** Events, and resyncs as long as there is room: of ten thousand that a list brings, none holds an event back. */
  #takeAdds(): Map<string, Priority> {
    const batch = new Map<string, Priority>();
    for (const [keys, priority] of [
      [this.#events, 'event'],
      [this.#resyncs, 'resync'],
    ] as const) {
      for (const key of keys) {
        if (batch.size === BATCH) return batch;
        keys.delete(key);
        batch.set(key, priority);
      }
    }
    return batch;
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

function mergeDelay(delays: Map<string, number>, key: string, at: number): void {
  delays.set(key, Math.min(at, delays.get(key) ?? Infinity));
}

/** Moves the oldest entries, a batch at most, into a map of their own. */
function takeFrom(pending: Map<string, number>): Map<string, number> {
  const batch = new Map(pending.entries().take(BATCH));
  for (const key of batch.keys()) pending.delete(key);
  return batch;
}
