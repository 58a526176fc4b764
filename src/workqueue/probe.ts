import type { Cancel, Clock } from '../kernel/index.ts';

/** The key that a probe is. No key of an object looks like it: those have four parts. */
export const PROBE_KEY = 'probe';

const INTERVAL = 30_000;

/** What {@link Probe} needs. */
export interface ProbeOptions {
  /** Adds {@link PROBE_KEY} to the queue. */
  readonly add: () => void;
  /** Is told how many seconds the last probe took, or has been under way. */
  readonly show: (seconds: number) => void;
  readonly clock: Clock;
}

/**
 * A key that the owner of a queue adds now and then to see how long it takes until it runs. That a worker calls itself
 * running does not say that it takes keys (taskforcesh/bullmq#4585).
 */
export class Probe {
  readonly #options: ProbeOptions;
  #addedAt: number | undefined;
  #cancel: Cancel;

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#cancel = () => undefined;
    this.#add();
  }

  /** The probe has run. */
  ran(): void {
    this.look();
    this.#addedAt = undefined;
  }

  /** Adds one that is under way again, because what was added may be lost. */
  repeat(): void {
    if (this.#addedAt !== undefined) this.#options.add();
  }

  /** Shows how long a probe has been under way. */
  look(): void {
    if (this.#addedAt !== undefined) this.#options.show((this.#options.clock.monotonic() - this.#addedAt) / 1000);
  }

  stop(): void {
    this.#cancel();
  }

  /** One that is still under way is added again. Its time goes on. */
  #add(): void {
    this.#addedAt ??= this.#options.clock.monotonic();
    this.#options.add();
    this.#cancel = this.#options.clock.after(INTERVAL, () => this.#add());
  }
}
