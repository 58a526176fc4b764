import { systemClock } from '../../src/kernel/index.ts';

export interface EventuallyOptions {
  /** Milliseconds; default 30 s. */
  readonly timeout?: number;
  /** Milliseconds between tries; default 100. */
  readonly interval?: number;
  /** What was waited for, for the error. */
  readonly message?: string;
}

/**
 * Tries until `attempt` neither throws nor answers `undefined` or `false`, and returns its answer. After the time-out,
 * the error names what was waited for and carries the last failure.
 */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { timeout = 30_000, interval = 100, message = 'it did not happen' }: EventuallyOptions = {},
): Promise<Exclude<Awaited<T>, undefined | false>> {
  const deadline = systemClock.monotonic() + timeout;
  for (;;) {
    const { answer, failure } = await once(attempt);
    if (answer !== undefined && answer !== false) return answer as Exclude<Awaited<T>, undefined | false>;
    if (systemClock.monotonic() >= deadline) {
      const reason = failure instanceof Error ? `: ${failure.message}` : '';
      throw new Error(`${message} (waited ${timeout / 1000} s)${reason}`, { cause: failure });
    }
    await systemClock.sleep(interval);
  }
}

async function once<T>(attempt: () => T | Promise<T>): Promise<{ answer?: Awaited<T>; failure?: unknown }> {
  try {
    return { answer: await attempt() };
  } catch (failure) {
    return { failure };
  }
}
