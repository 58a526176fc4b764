import type { Cancel, Clock } from '../kernel/index.ts';

/** Calls back once when nothing has been heard for a time. */
export class IdleLimit {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #onIdle: () => void;
  #heardAt: number;
  #cancel: Cancel;

  constructor(clock: Clock, limit: number, onIdle: () => void) {
    this.#clock = clock;
    this.#limit = limit;
    this.#onIdle = onIdle;
    this.#heardAt = clock.monotonic();
    this.#cancel = clock.after(limit, () => this.#check());
  }

  /** Something was heard. Only notes the time, so that a busy stream does not set a timer per event. */
  heard(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  stop(): void {
    this.#cancel();
  }

  #check(): void {
    const left = this.#heardAt + this.#limit - this.#clock.monotonic();
    if (left > 0) this.#cancel = this.#clock.after(left, () => this.#check());
    else this.#onIdle();
  }
}
