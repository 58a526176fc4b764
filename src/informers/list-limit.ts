import type { Cancel, Clock } from '../kernel/index.ts';
import { IdleLimit } from './idle-limit.ts';

/** A place among the lists that may run at once. */
export interface ListPlace {
  /** The list goes on: something of it came. */
  progress(): void;
  /** The list has ended. Calling it again does nothing. */
  release(): void;
}

/** Options of {@link ListLimit}; durations in milliseconds. */
export interface ListLimitOptions {
  readonly clock: Clock;
  /** How many full lists run at once. Default 4: what is read, parsed and stored at once is what memory must hold twice. */
  readonly limit?: number;
}

const LIMIT = 4;
/** A list on which nothing comes for this long is waiting, not working: its place is better used by another. */
const MAX_SILENCE = 5000;
/** However it trickles, a list keeps others waiting no longer than this. */
const MAX_HOLD = 60_000;

interface Waiting {
  readonly cluster: string;
  readonly enter: () => void;
}

/**
 * How many full lists run at once in a process, whatever the number of clusters and kinds. The next place goes to the
 * cluster that holds the fewest, of these to who waits longest. A list that makes no progress, or lasts long, goes on,
 * but its place is given away: a cluster that hangs keeps nobody waiting for long.
 */
export class ListLimit {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #taken = 0;

  constructor({ clock, limit = LIMIT }: ListLimitOptions) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Waits for a place. When the signal aborts before there is one, the place that it answers counts for nothing. */
  async enter(cluster: string, signal: AbortSignal): Promise<ListPlace> {
    if (this.#taken < this.#limit) this.#take(cluster);
    else if (!(await this.#isLetIn(cluster, signal))) return NO_PLACE;
    return new Place(this.#clock, () => this.#leave(cluster));
  }

  async #isLetIn(cluster: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = (): void => {
      this.#waiting.delete(waiting);
      resolve(false);
    };
    const waiting = { cluster, enter: () => resolve(true) };
    this.#waiting.add(waiting);
    signal.addEventListener('abort', giveUp, { once: true });
    const isLetIn = await promise;
    signal.removeEventListener('abort', giveUp);
    return isLetIn;
  }

  #take(cluster: string): void {
    this.#taken += 1;
    this.#held.set(cluster, this.#heldBy(cluster) + 1);
  }

  #leave(cluster: string): void {
    this.#taken -= 1;
    const left = this.#heldBy(cluster) - 1;
    if (left > 0) this.#held.set(cluster, left);
    else this.#held.delete(cluster);
    const next = this.#next();
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#take(next.cluster);
    next.enter();
  }

  #next(): Waiting | undefined {
    let best: Waiting | undefined;
    for (const waiting of this.#waiting) {
      if (best === undefined || this.#heldBy(waiting.cluster) < this.#heldBy(best.cluster)) best = waiting;
    }
    return best;
  }

  #heldBy(cluster: string): number {
    return this.#held.get(cluster) ?? 0;
  }
}

const NO_PLACE: ListPlace = { progress: () => undefined, release: () => undefined };

class Place implements ListPlace {
  readonly #silence: IdleLimit;
  readonly #cancelEnd: Cancel;
  #leave: (() => void) | undefined;

  constructor(clock: Clock, leave: () => void) {
    this.#leave = leave;
    this.#silence = new IdleLimit(clock, MAX_SILENCE, () => this.release());
    this.#cancelEnd = clock.after(MAX_HOLD, () => this.release());
  }

  progress(): void {
    this.#silence.heard();
  }

  release(): void {
    this.#silence.stop();
    this.#cancelEnd();
    this.#leave?.();
    this.#leave = undefined;
  }
}
