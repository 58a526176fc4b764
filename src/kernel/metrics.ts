/** Label names and their values; values come from bounded sets. */
export type Labels = Readonly<Record<string, string>>;

/** A value that only grows. */
export interface Counter {
  inc(labels: Labels, by?: number): void;
}

/** A value that goes up and down. */
export interface Gauge {
  set(labels: Labels, value: number): void;
  remove(labels: Labels): void;
}

/** A distribution, in the unit that its name ends with. */
export interface Histogram {
  observe(labels: Labels, value: number): void;
}

/** Description of a metric, as Prometheus shows it. */
export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** Where rooms register what they count. Registering a name again returns the first. */
export interface Metrics {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): Histogram;
}

/** Counts nothing; for tests and for library use. */
export const noMetrics: Metrics = {
  counter: () => ({ inc: () => undefined }),
  gauge: () => ({ set: () => undefined, remove: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
};
