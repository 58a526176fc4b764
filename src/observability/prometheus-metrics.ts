import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Metrics } from '../kernel/index.ts';

/** The process's metrics in a prom-client registry of their own. */
export class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();
  readonly #known = new Map<string, unknown>();

  /** Adds Node's own figures: event loop lag, heap, garbage collection. */
  collectProcessMetrics(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  counter(options: Parameters<Metrics['counter']>[0]): ReturnType<Metrics['counter']> {
    return this.#once(options.name, () => {
      const counter = new Counter({ ...this.#describe(options), registers: [this.#registry] });
      return { inc: (labels, by = 1) => counter.inc({ ...labels }, by) };
    });
  }

  gauge(options: Parameters<Metrics['gauge']>[0]): ReturnType<Metrics['gauge']> {
    return this.#once(options.name, () => {
      const gauge = new Gauge({ ...this.#describe(options), registers: [this.#registry] });
      return {
        set: (labels, value) => gauge.set({ ...labels }, value),
        remove: (labels) => gauge.remove({ ...labels }),
      };
    });
  }

  histogram(options: Parameters<Metrics['histogram']>[0]): ReturnType<Metrics['histogram']> {
    return this.#once(options.name, () => {
      const buckets = [...options.buckets];
      const histogram = new Histogram({ ...this.#describe(options), buckets, registers: [this.#registry] });
      return { observe: (labels, value) => histogram.observe({ ...labels }, value) };
    });
  }

  /** Everything in Prometheus' text format, with the content type that goes with it. */
  async expose(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #describe(options: Parameters<Metrics['gauge']>[0]): { name: string; help: string; labelNames: string[] } {
    return { name: options.name, help: options.help, labelNames: [...options.labelNames] };
  }

  #once<T>(name: string, create: () => T): T {
    const known = this.#known.get(name);
    if (known !== undefined) return known as T;
    const created = create();
    this.#known.set(name, created);
    return created;
  }
}
