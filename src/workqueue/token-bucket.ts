import type { Clock } from '../kernel/index.ts';

/** How many retries a queue makes: client-go's own default is 10 a second and 100 at once. */
export interface RetryLimit {
  /** Retries a second in the long run. */
  readonly perSecond: number;
  /** How many may come at once after a quiet time. */
  readonly burst: number;
}

/** client-go's BucketRateLimiter: every retry takes a token, one that is not there yet is waited for. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #limit: RetryLimit;
  #tokens: number;
  #filledAt: number;

  constructor(clock: Clock, limit: RetryLimit) {
    this.#clock = clock;
    this.#limit = limit;
    this.#tokens = limit.burst;
    this.#filledAt = clock.monotonic();
  }

  /** Takes a token. Answers in how many milliseconds it may be used. */
  take(): number {
    const { perSecond, burst } = this.#limit;
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * perSecond) - 1;
    this.#filledAt = now;
    return Math.max(0, (-this.#tokens / perSecond) * 1000);
  }
}
