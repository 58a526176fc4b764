import { HUB } from '../kernel/index.ts';
import type { Counter, Gauge, Histogram, Metrics } from '../kernel/index.ts';
import type { Priority } from './keyed-queue.ts';

/** controller-runtime's ExponentialBuckets(10e-9, 10, 12). */
const BUCKETS = Array.from({ length: 12 }, (_, index) => Number(`1e${index - 8}`));

/** controller-runtime's numbers for its levels. */
const PRIORITY_LABELS: Readonly<Record<Priority, string>> = { event: '0', resync: '-100' };

/**
 * client-go's metrics of workqueues, by their names. `name` is the shard and `controller` the kind of the key. Histograms
 * tell only the hub's queue ("hub") from those of members ("member"): buckets times clusters would help nobody. What
 * is known of a whole queue only has an empty `controller`.
 */
export class QueueMetrics {
  readonly #depth: Gauge;
  readonly #unfinished: Gauge;
  readonly #longest: Gauge;
  readonly #probe: Gauge;
  readonly #adds: Counter;
  readonly #retries: Counter;
  readonly #waited: Histogram;
  readonly #worked: Histogram;

  constructor(metrics: Metrics) {
    const labelNames = ['name', 'controller'];
    this.#depth = metrics.gauge({
      name: 'workqueue_depth',
      help: 'Current depth of workqueue by workqueue and priority',
      labelNames: [...labelNames, 'priority'],
    });
    this.#unfinished = metrics.gauge({
      name: 'workqueue_unfinished_work_seconds',
      help: 'How many seconds of work are in progress and not yet in work_duration; large values mean stuck runs',
      labelNames,
    });
    this.#longest = metrics.gauge({
      name: 'workqueue_longest_running_processor_seconds',
      help: 'How many seconds the longest running processor has been running',
      labelNames,
    });
    this.#probe = metrics.gauge({
      name: 'atoll_workqueue_probe_seconds',
      help: 'How many seconds a key that is added every 30 s took until it ran, or has been waiting; 5 is much',
      labelNames: ['name'],
    });
    this.#adds = metrics.counter({
      name: 'workqueue_adds_total',
      help: 'Total number of adds handled by workqueue',
      labelNames,
    });
    this.#retries = metrics.counter({
      name: 'workqueue_retries_total',
      help: 'Total number of retries handled by workqueue',
      labelNames,
    });
    this.#waited = metrics.histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'How long in seconds an item stays in workqueue before being requested',
      labelNames,
      buckets: BUCKETS,
    });
    this.#worked = metrics.histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'How long in seconds processing an item from workqueue takes',
      labelNames,
      buckets: BUCKETS,
    });
  }

  added(shard: string, kind: string): void {
    this.#adds.inc({ name: shard, controller: kind });
  }

  retried(shard: string, kind: string): void {
    this.#retries.inc({ name: shard, controller: kind });
  }

  /** Of a run that ended: seconds that its key waited for it, and seconds that it took. */
  ran(shard: string, kind: string, seconds: { readonly waited: number; readonly worked: number }): void {
    const labels = { name: shard === HUB ? 'hub' : 'member', controller: kind };
    this.#waited.observe(labels, seconds.waited);
    this.#worked.observe(labels, seconds.worked);
  }

  /** Of the keys that wait in a queue that is worked here. */
  depth(shard: string, depth: Readonly<Record<Priority, number>>): void {
    const labels = { name: shard, controller: '' };
    this.#depth.set({ ...labels, priority: PRIORITY_LABELS.event }, depth.event);
    this.#depth.set({ ...labels, priority: PRIORITY_LABELS.resync }, depth.resync);
  }

  /** Of the runs that are under way: for how many seconds each. */
  running(shard: string, seconds: readonly number[]): void {
    const labels = { name: shard, controller: '' };
    this.#unfinished.set(
      labels,
      seconds.reduce((sum, one) => sum + one, 0),
    );
    this.#longest.set(labels, Math.max(0, ...seconds));
  }

  /** How long the last probe of a queue took, or has been under way. */
  probed(shard: string, seconds: number): void {
    this.#probe.set({ name: shard }, seconds);
  }

  /** The queue is not worked here any longer. */
  stopped(shard: string): void {
    const labels = { name: shard, controller: '' };
    for (const priority of Object.values(PRIORITY_LABELS)) this.#depth.remove({ ...labels, priority });
    this.#unfinished.remove(labels);
    this.#longest.remove(labels);
    this.#probe.remove({ name: shard });
  }
}
