import type { Clock } from './clock.ts';

/** How long work may go on before everything else gets its turn. Several such stretches never run back to back. */
const STRETCH = 8;

/** Those who wait for a turn. The event loop is one per thread, and so is the queue for it. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop in which nobody else that waits here resumes. (Node runs all callbacks of
 * `setImmediate` in one go: ten lists that are decoded at once would otherwise block for ten stretches.)
 */
function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(resolve);
  if (waiting.length === 1) setImmediate(giveTurn);
  return promise;
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}

/** Long work in stretches of 8 ms: `if (stretch.isOver()) await stretch.rest()` wherever it can be interrupted. */
export class WorkStretch {
  readonly #clock: Clock;
  #end: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#end = clock.monotonic() + STRETCH;
  }

  /** Whether it is time to {@link rest}. */
  isOver(): boolean {
    return this.#clock.monotonic() >= this.#end;
  }

  /** Lets timers, sockets and other work have their turn, then begins the next stretch. */
  async rest(): Promise<void> {
    await nextTurn();
    this.#end = this.#clock.monotonic() + STRETCH;
  }
}
