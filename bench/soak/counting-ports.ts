import { systemClock } from '../../src/kernel/index.ts';
import type { Cancel, Clock, Counter, Labels, MetricOptions, Metrics } from '../../src/kernel/index.ts';

/** The machine's clocks, and the timers set by them that have neither gone off nor been cancelled: where they were set. */
export class CountingClock implements Clock {
  readonly timers = new Set<Error>();

  now(): number {
    return systemClock.now();
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  after(milliseconds: number, callback: () => void): Cancel {
    const timer = this.#note(milliseconds);
    const cancel = systemClock.after(milliseconds, () => {
      this.timers.delete(timer);
      callback();
    });
    return () => {
      this.timers.delete(timer);
      cancel();
    };
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const timer = this.#note(milliseconds);
    await systemClock.sleep(milliseconds, signal);
    this.timers.delete(timer);
  }

  #note(milliseconds: number): Error {
    const timer = new Error(`a timer of ${milliseconds} ms`);
    this.timers.add(timer);
    return timer;
  }
}

/** Sums of all counters, by one label besides the name. */
export class CountingMetrics implements Metrics {
  readonly sums: Record<string, number> = {};

  counter({ name }: MetricOptions): Counter {
    return {
      inc: ({ error, code }: Labels, by = 1) => {
        const label = error ?? code;
        const key = label === undefined ? name : `${name} ${label}`;
        this.sums[key] = (this.sums[key] ?? 0) + by;
      },
    };
  }

  gauge(): ReturnType<Metrics['gauge']> {
    return { set: () => undefined, remove: () => undefined };
  }

  histogram(): ReturnType<Metrics['histogram']> {
    return { observe: () => undefined };
  }
}
