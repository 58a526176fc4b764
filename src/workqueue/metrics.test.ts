import { beforeEach, describe, expect, it } from 'vitest';
import { done, TerminalError } from '../kernel/index.ts';
import type { Labels, MetricOptions, Metrics } from '../kernel/index.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import { outcomeOfError, outcomeOfResult } from './outcome.ts';
import { QueueMetrics } from './queue-metrics.ts';

const KIND = 'RedisCluster.workloads.atoll.dev';

/** Keeps values by name and labels, as Prometheus shows them. */
class RecordedMetrics implements Metrics {
  readonly values = new Map<string, number | number[]>();
  readonly buckets = new Map<string, readonly number[]>();

  counter({ name }: MetricOptions): ReturnType<Metrics['counter']> {
    return { inc: (labels) => this.values.set(series(name, labels), Number(this.of(name, labels) ?? 0) + 1) };
  }

  gauge({ name }: MetricOptions): ReturnType<Metrics['gauge']> {
    return {
      set: (labels, value) => this.values.set(series(name, labels), value),
      remove: (labels) => this.values.delete(series(name, labels)),
    };
  }

  histogram({
    name,
    buckets,
  }: MetricOptions & { readonly buckets: readonly number[] }): ReturnType<Metrics['histogram']> {
    this.buckets.set(name, buckets);
    return {
      observe: (labels, value) =>
        this.values.set(series(name, labels), [...((this.of(name, labels) as number[]) ?? []), value]),
    };
  }

  of(name: string, labels: Labels): number | number[] | undefined {
    return this.values.get(series(name, labels));
  }
}

function series(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${pairs.toSorted().join(',')}}`;
}

let metrics: RecordedMetrics;

beforeEach(() => {
  metrics = new RecordedMetrics();
});

describe('the metrics of a queue', () => {
  it('tell shards and kinds apart in counters, and only the hub from members in histograms', () => {
    const queue = new QueueMetrics(metrics);
    queue.added('eu-1', KIND);
    queue.added('eu-1', KIND);
    queue.retried('us-1', KIND);
    queue.ran('eu-1', KIND, { waited: 0.2, worked: 1 });
    queue.ran('hub', KIND, { waited: 0.3, worked: 2 });
    expect(metrics.of('workqueue_adds_total', { name: 'eu-1', controller: KIND })).toBe(2);
    expect(metrics.of('workqueue_retries_total', { name: 'us-1', controller: KIND })).toBe(1);
    expect(metrics.of('workqueue_queue_duration_seconds', { name: 'member', controller: KIND })).toEqual([0.2]);
    expect(metrics.of('workqueue_work_duration_seconds', { name: 'hub', controller: KIND })).toEqual([2]);
  });

  it('have the buckets of controller-runtime', () => {
    const queue = new QueueMetrics(metrics);
    queue.added('hub', KIND);
    const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];
    expect(metrics.buckets.get('workqueue_queue_duration_seconds')).toEqual(buckets);
    expect(metrics.buckets.get('workqueue_work_duration_seconds')).toEqual(buckets);
  });

  it('show a queue while it is worked here, and nothing afterwards', () => {
    const queue = new QueueMetrics(metrics);
    queue.depth('eu-1', { event: 3, resync: 40 });
    queue.running('eu-1', [1, 4]);
    queue.probed('eu-1', 0.2);
    const labels = { name: 'eu-1', controller: '' };
    expect(metrics.of('workqueue_depth', { ...labels, priority: '0' })).toBe(3);
    expect(metrics.of('workqueue_depth', { ...labels, priority: '-100' })).toBe(40);
    expect(metrics.of('workqueue_unfinished_work_seconds', labels)).toBe(5);
    expect(metrics.of('workqueue_longest_running_processor_seconds', labels)).toBe(4);
    expect(metrics.of('atoll_workqueue_probe_seconds', { name: 'eu-1' })).toBe(0.2);
    queue.stopped('eu-1');
    expect(metrics.values.size).toBe(0);
  });
});

describe('the metrics of controllers', () => {
  it('count runs by result, errors, and those that are terminal or panics', () => {
    const controllers = new ControllerMetrics(metrics);
    const errors = [new Error('refused'), new TerminalError('invalid'), new TypeError('undefined is no function')];
    for (const error of errors) {
      controllers.started(KIND);
      controllers.finished(KIND, 0.1, { outcome: outcomeOfError(error), error });
    }
    controllers.started(KIND);
    controllers.finished(KIND, 0.1, { outcome: outcomeOfResult(done) });
    const labels = { controller: KIND };
    expect(metrics.of('controller_runtime_reconcile_total', { ...labels, result: 'success' })).toBe(1);
    expect(metrics.of('controller_runtime_reconcile_total', { ...labels, result: 'error' })).toBe(3);
    expect(metrics.of('operator_reconcile_total', { ...labels, result: 'error' })).toBe(3);
    expect(metrics.of('controller_runtime_reconcile_errors_total', labels)).toBe(3);
    expect(metrics.of('controller_runtime_reconcile_panics_total', labels)).toBe(1);
    expect(metrics.of('controller_runtime_terminal_reconcile_errors_total', labels)).toBe(1);
    expect(metrics.of('controller_runtime_reconcile_time_seconds', labels)).toEqual([0.1, 0.1, 0.1, 0.1]);
  });

  it('show how many workers a kind uses, and how many it may', () => {
    const controllers = new ControllerMetrics(metrics);
    controllers.concurrency('hub', 4);
    controllers.started(KIND);
    controllers.concurrency('eu-1', 4);
    expect(metrics.of('controller_runtime_active_workers', { controller: KIND })).toBe(1);
    expect(metrics.of('controller_runtime_max_concurrent_reconciles', { controller: KIND })).toBe(8);
    controllers.finished(KIND, 0.1, { outcome: outcomeOfResult(done) });
    controllers.concurrency('eu-1', 0);
    expect(metrics.of('controller_runtime_active_workers', { controller: KIND })).toBe(0);
    expect(metrics.of('controller_runtime_max_concurrent_reconciles', { controller: KIND })).toBe(4);
  });
});
