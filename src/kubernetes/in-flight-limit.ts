/** Lets a bounded number of holders in at a time, the others in the order in which they came. */
export class InFlightLimit {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves with the function that gives the place back. @throws the signal's reason when it aborts before */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#held >= this.#limit) await this.#turn(signal);
    else this.#held += 1;
    return () => this.#release();
  }

  #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const enter = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = (): void => {
      this.#waiting.delete(enter);
      reject(signal.reason as Error);
    };
    this.#waiting.add(enter);
    signal.addEventListener('abort', leave, { once: true });
    return promise;
  }

  /** The place goes straight to the next in line, so that nobody can overtake. */
  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#held -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
