import type { Clock, Logger } from '../kernel/index.ts';
import type { DelayStore } from './delay-store.ts';
import type { ReadyQueue } from './ready-queue.ts';

const BATCH = 500;
/** At the latest: another replica may have written an earlier time. */
const INTERVAL = 200;

/** Makes keys ready when their time comes. Runs beside the worker, so on the shard's owner only. */
export class Promoter {
  readonly #options: {
    readonly delays: DelayStore;
    readonly ready: ReadyQueue;
    readonly clock: Clock;
    readonly logger: Logger;
  };
  readonly #stopped = new AbortController();
  #nap = new AbortController();
  #napEndsAt = 0;

  constructor(options: { delays: DelayStore; ready: ReadyQueue; clock: Clock; logger: Logger }) {
    this.#options = options;
  }

  /** Runs until {@link stop}. Never rejects. */
  async run(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#stopped.signal.aborted) {
      const pause = await this.#promote();
      this.#nap = new AbortController();
      this.#napEndsAt = clock.monotonic() + pause;
      await clock.sleep(pause, AbortSignal.any([this.#stopped.signal, this.#nap.signal]));
    }
  }

  /** Says that a key is due in so many milliseconds. */
  wake(milliseconds: number): void {
    if (this.#options.clock.monotonic() + milliseconds < this.#napEndsAt) this.#nap.abort();
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Returns how long to wait before the next time. */
  async #promote(): Promise<number> {
    const { delays, ready, logger } = this.#options;
    try {
      const { keys, next } = await delays.due(BATCH);
      if (keys.length > 0) {
        await ready.add(new Map(keys.map(({ key }) => [key, 'event'])));
        await delays.acknowledge(keys);
      }
      return keys.length === BATCH ? 0 : Math.min(next ?? INTERVAL, INTERVAL);
    } catch (error) {
      logger.debug('the keys that are due cannot be promoted now', { error });
      return INTERVAL;
    }
  }
}
