import { done, noMetrics, systemClock } from '../../src/kernel/index.ts';
import type { Key } from '../../src/kernel/index.ts';
import { RedisConnections } from '../../src/redis/index.ts';
import { Workqueues } from '../../src/workqueue/index.ts';
import type { KeyedQueue, ReconcileContext, Reconcile, WorkqueuesOptions } from '../../src/workqueue/index.ts';
import { eventually } from './eventually.ts';
import { RecordingLogger } from './recording-logger.ts';

/** A key of the shard "m1" by its name. */
export function keyOf(name: string): Key {
  return { cluster: 'm1', kind: 'RedisCluster.workloads.atoll.dev', namespace: 'shop', name };
}

/** What a run may wait at until the test opens it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** What a test's reconcile may do: told which run of the key this is, counted from 1. */
export type Behaviour = (run: number, context: ReconcileContext) => ReturnType<Reconcile>;

type Limits = Pick<WorkqueuesOptions, 'maxConcurrency' | 'retryLimit'>;

/** One replica of Atoll as far as its queue of the shard "m1" goes. It records what ran. */
export class QueueReplica {
  readonly redis: RedisConnections;
  readonly workqueues: Workqueues;
  readonly queue: KeyedQueue;
  readonly logger = new RecordingLogger();
  /** Names of keys in the order in which their runs began. */
  readonly started: string[] = [];
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #running = new Map<string, number>();
  #markers = 0;
  /** The most runs of one key at the same time. */
  mostConcurrent = 0;

  constructor(url: string, keyPrefix: string, options: Partial<Limits> = {}) {
    const { logger } = this;
    this.redis = new RedisConnections({ url, keyPrefix, allowNoPassword: false, logger, metrics: noMetrics });
    this.workqueues = new Workqueues({
      maxConcurrency: 64,
      ...options,
      redis: this.redis,
      clock: systemClock,
      random: Math.random,
      logger,
      metrics: noMetrics,
    });
    this.queue = this.workqueues.queue('m1');
  }

  /** What the runs of a key do; without it they are done at once. */
  on(name: string, behaviour: Behaviour): void {
    this.#behaviours.set(name, behaviour);
  }

  start(concurrency = 4, guard: () => void = () => undefined): void {
    this.queue.start((key, context) => this.#reconcile(key, context), { concurrency, guard });
  }

  runs(name: string): number {
    return this.started.filter((one) => one === name).length;
  }

  /** Waits until a key ran so many times. */
  async ran(name: string, times: number): Promise<void> {
    await eventually(() => this.runs(name) >= times, { interval: 5, message: `${name} runs ${times} times` });
  }

  /** Returns when everything that this replica added before has reached Redis, and what may run of it has begun to. */
  async settled(runner: QueueReplica = this): Promise<void> {
    const marker = `marker-${process.pid}-${(this.#markers += 1)}-${Math.random()}`;
    this.queue.add(keyOf(marker));
    await runner.ran(marker, 1);
  }

  async close(): Promise<void> {
    await this.workqueues.close();
    await this.redis.close();
  }

  async #reconcile({ name }: Key, context: ReconcileContext): ReturnType<Reconcile> {
    this.started.push(name);
    const running = (this.#running.get(name) ?? 0) + 1;
    this.#running.set(name, running);
    this.mostConcurrent = Math.max(this.mostConcurrent, running);
    try {
      return (await this.#behaviours.get(name)?.(this.runs(name), context)) ?? done;
    } finally {
      this.#running.set(name, (this.#running.get(name) ?? 0) - 1);
    }
  }
}
