import { TerminalError } from '../kernel/index.ts';
import type { Counter, Gauge, Histogram, Metrics } from '../kernel/index.ts';
import { isPanic } from './outcome.ts';
import type { Outcome } from './outcome.ts';

/** controller-runtime's, for the time of a reconcile. */
const BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/**
 * controller-runtime's metrics, by their names, and `operator_reconcile_total`, which dashboards of operators that are not
 * written with it know. `controller` is the kind of the key, whatever
 * cluster it is in.
 */
export class ControllerMetrics {
  readonly #reconciles: readonly Counter[];
  readonly #errors: Counter;
  readonly #terminalErrors: Counter;
  readonly #panics: Counter;
  readonly #activeWorkers: Gauge;
  readonly #maxConcurrent: Gauge;
  readonly #time: Histogram;
  /** Kind → runs under way. */
  readonly #active = new Map<string, number>();
  /** Shard → how many keys its queue runs at the same time. */
  readonly #concurrency = new Map<string, number>();

  constructor(metrics: Metrics) {
    const labelNames = ['controller'];
    this.#reconciles = ['controller_runtime_reconcile_total', 'operator_reconcile_total'].map((name) =>
      metrics.counter({
        name,
        help: 'Total number of reconciliations per controller',
        labelNames: [...labelNames, 'result'],
      }),
    );
    this.#errors = metrics.counter({
      name: 'controller_runtime_reconcile_errors_total',
      help: 'Total number of reconciliation errors per controller',
      labelNames,
    });
    this.#terminalErrors = metrics.counter({
      name: 'controller_runtime_terminal_reconcile_errors_total',
      help: 'Total number of terminal reconciliation errors per controller',
      labelNames,
    });
    this.#panics = metrics.counter({
      name: 'controller_runtime_reconcile_panics_total',
      help: 'Total number of reconciliation panics per controller: what was thrown and is a mistake in the code',
      labelNames,
    });
    this.#activeWorkers = metrics.gauge({
      name: 'controller_runtime_active_workers',
      help: 'Number of currently used workers per controller',
      labelNames,
    });
    this.#maxConcurrent = metrics.gauge({
      name: 'controller_runtime_max_concurrent_reconciles',
      help: 'Maximum number of concurrent reconciles per controller',
      labelNames,
    });
    this.#time = metrics.histogram({
      name: 'controller_runtime_reconcile_time_seconds',
      help: 'Length of time per reconciliation per controller',
      labelNames,
      buckets: BUCKETS,
    });
  }

  /** A queue is worked here with so much concurrency; 0 when it is not any longer. Every kind may use all of it. */
  concurrency(shard: string, concurrency: number): void {
    if (concurrency === 0) this.#concurrency.delete(shard);
    else this.#concurrency.set(shard, concurrency);
    for (const kind of this.#active.keys()) this.#showConcurrency(kind);
  }

  started(kind: string): void {
    const isNew = !this.#active.has(kind);
    this.#setActive(kind, 1);
    if (isNew) this.#showConcurrency(kind);
  }

  finished(kind: string, seconds: number, run: { readonly outcome: Outcome; readonly error?: unknown }): void {
    this.#setActive(kind, -1);
    this.#time.observe({ controller: kind }, seconds);
    for (const reconciles of this.#reconciles) reconciles.inc({ controller: kind, result: run.outcome.result });
    if (run.outcome.result !== 'error') return;
    this.#errors.inc({ controller: kind });
    if (run.error instanceof TerminalError) this.#terminalErrors.inc({ controller: kind });
    if (isPanic(run.error)) this.#panics.inc({ controller: kind });
  }

  #setActive(kind: string, change: number): void {
    const active = (this.#active.get(kind) ?? 0) + change;
    this.#active.set(kind, active);
    this.#activeWorkers.set({ controller: kind }, active);
  }

  #showConcurrency(kind: string): void {
    const total = [...this.#concurrency.values()].reduce((sum, one) => sum + one, 0);
    this.#maxConcurrent.set({ controller: kind }, total);
  }
}
