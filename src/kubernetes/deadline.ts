import type { Clock } from '../kernel/index.ts';
import { UnreachableError } from './api-errors.ts';

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
  readonly cancel: () => void;

  constructor(clock: Clock, { milliseconds, what, signal }: DeadlineOptions) {
    const controller = new AbortController();
    this.signal = signal ? AbortSignal.any([controller.signal, signal]) : controller.signal;
    this.cancel = clock.after(milliseconds, () =>
      controller.abort(new UnreachableError(`${what}: no answer within ${milliseconds / 1000} s`, 'TIMEOUT')),
    );
  }
}
