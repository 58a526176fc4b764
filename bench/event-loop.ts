import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds; the resolution of the observing timer is taken off. */
export interface Lag {
  readonly p99: number;
  readonly longest: number;
}

const RESOLUTION = 1;

/** Observes from now on how late the event loop is. The answer ends it. */
export function observeEventLoop(): () => Lag {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  return () => {
    delay.disable();
    const milliseconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION);
    return { p99: milliseconds(delay.percentile(99)), longest: milliseconds(delay.max) };
  };
}
