import type { Logger } from '../kernel/index.ts';
import type { ReadyQueue } from './ready-queue.ts';

/** Of so many runs one is a resync's, also while events wait: it then takes a ninth more time to get through the events. */
const SHARE = 8;

/**
 * Ages resyncs: events come before them, but a stream of events that never ends must not keep them waiting for ever
 * (kubernetes-sigs/controller-runtime#3496). Counts runs instead of time: what a resync waits for is other keys.
 */
export class ResyncShare {
  readonly #ready: ReadyQueue;
  readonly #logger: Logger;
  #runs = 0;
  #isRaising = false;

  constructor(ready: ReadyQueue, logger: Logger) {
    this.#ready = ready;
    this.#logger = logger;
  }

  /** A run has ended. */
  ran(): void {
    this.#runs += 1;
    if (this.#runs >= SHARE && !this.#isRaising) void this.#raise();
  }

  async #raise(): Promise<void> {
    this.#isRaising = true;
    const count = Math.floor(this.#runs / SHARE);
    this.#runs %= SHARE;
    try {
      await this.#ready.raiseOldest(count);
    } catch (error) {
      this.#logger.debug('the oldest resyncs cannot be raised now', { error });
    } finally {
      this.#isRaising = false;
    }
  }
}
