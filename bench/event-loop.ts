import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '../src/kernel/index.ts';
import type { Cancel } from '../src/kernel/index.ts';

/** Milliseconds; the resolution of the observing timer is taken off. */
export interface Lag {
  readonly p99: number;
  readonly longest: number;
  /** The most CPU time that this thread used without giving the loop back: a busy machine has no part in it. */
  readonly longestCpu: number;
}

const RESOLUTION = 1;

/** Observes from now on how late the event loop is. The answer ends it. */
export function observeEventLoop(): () => Lag {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  const longestCpu = observeCpu();
  delay.enable();
  return () => {
    delay.disable();
    const milliseconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION);
    return { p99: milliseconds(delay.percentile(99)), longest: milliseconds(delay.max), longestCpu: longestCpu() };
  };
}

/** Looks at every turn of a timer how much CPU time has gone since the last. */
function observeCpu(): () => number {
  let last = threadCpu();
  let longest = 0;
  let cancel: Cancel = () => undefined;
  const look = (): void => {
    const now = threadCpu();
    longest = Math.max(longest, now - last);
    last = now;
    cancel = systemClock.after(RESOLUTION, look);
  };
  look();
  return () => {
    cancel();
    return longest;
  };
}

function threadCpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
