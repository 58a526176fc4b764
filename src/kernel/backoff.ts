/** Randomness in [0, 1), handed in so that tests can fix it. */
export type Random = () => number;

/** Options of {@link Backoff}; durations in milliseconds. */
export interface BackoffOptions {
  readonly base: number;
  readonly max: number;
  readonly factor?: number;
  /** Up to this share is added to each delay: 1 gives [d, 2d), as in client-go's reflector. */
  readonly jitter?: number;
}

/** Exponential delays: base, base·factor, … up to max, each jittered. */
export class Backoff {
  readonly #options: Required<BackoffOptions>;
  readonly #random: Random;
  #step = 0;

  constructor(options: BackoffOptions, random: Random) {
    this.#options = { factor: 2, jitter: 0, ...options };
    this.#random = random;
  }

  /** The next delay in milliseconds, at most max·(1 + jitter). */
  next(): number {
    const { base, max, factor, jitter } = this.#options;
    const delay = Math.min(base * factor ** Math.min(this.#step, 60), max);
    this.#step += 1;
    return delay * (1 + jitter * this.#random());
  }

  /** Starts again at base. */
  reset(): void {
    this.#step = 0;
  }
}
