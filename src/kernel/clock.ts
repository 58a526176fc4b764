/** Cancels what it came from; calling it again, or too late, does nothing. */
export type Cancel = () => void;

/** Time, handed to whoever needs it, so that tests can hold it still. All durations are milliseconds. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. For showing only: no decision compares it with another machine's. */
  now(): number;
  /** Monotonic clock, milliseconds from an arbitrary start. For every decision about elapsed time. */
  monotonic(): number;
  /** Calls back once after a delay, of 24 days at most. The timer does not keep the process alive. */
  after(milliseconds: number, callback: () => void): Cancel;
  /** Resolves after a delay, or at once when the signal aborts: the caller looks at the signal. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Node takes a longer time for none, and would call back at once. 24.8 days: whoever waits for that long looks again. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The machine's own clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, Math.min(milliseconds, LONGEST_TIMER));
    timer.unref();
    return () => clearTimeout(timer);
  },
  sleep: (milliseconds, signal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal?.aborted) {
      resolve();
      return promise;
    }
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, Math.min(milliseconds, LONGEST_TIMER));
    signal?.addEventListener('abort', finish, { once: true });
    return promise;
  },
};

/** RFC 3339 with whole seconds, the form of metav1.Time. */
export function formatTime(epochMilliseconds: number): string {
  return `${new Date(epochMilliseconds).toISOString().slice(0, 19)}Z`;
}

/** RFC 3339 with six fractional digits, the form of metav1.MicroTime: an API server refuses three (k8s Lease). */
export function formatMicroTime(epochMilliseconds: number): string {
  return `${new Date(epochMilliseconds).toISOString().slice(0, 23)}000Z`;
}
