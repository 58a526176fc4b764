import type { Cancel, Clock } from '../../kernel/index.ts';
import { UnreachableError } from '../api-errors.ts';

/** Options of {@link Deadline}. */
export interface DeadlineOptions {
  readonly milliseconds: number;
  /** What ran out of time, for the error's message. */
  readonly what: string;
  /** The caller's own wish to give up. */
  readonly signal?: AbortSignal | undefined;
}

/** A signal that aborts when the time is up, or when the caller gives up: also after {@link cancel} stopped the clock. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #options: DeadlineOptions;
  readonly #controller = new AbortController();
  #cancel: Cancel = () => undefined;

  constructor(clock: Clock, options: DeadlineOptions) {
    const { signal } = options;
    this.#clock = clock;
    this.#options = options;
    this.signal = signal ? AbortSignal.any([this.#controller.signal, signal]) : this.#controller.signal;
    this.restart();
  }

  /** Gives the whole time again from now on. */
  restart(): void {
    const { milliseconds, what } = this.#options;
    this.cancel();
    this.#cancel = this.#clock.after(milliseconds, () =>
      this.#controller.abort(new UnreachableError(`${what}: no answer within ${milliseconds / 1000} s`, 'TIMEOUT')),
    );
  }

  /** Stops the clock. */
  cancel(): void {
    this.#cancel();
  }
}

/** What a promise resolves with, unless the signal aborts before. @throws the signal's reason */
export async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
