import type { Counter, Labels, MetricOptions, Metrics } from '../../src/kernel/index.ts';

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
