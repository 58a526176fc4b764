import { AtollError, formatKey } from '../kernel/index.ts';
import type { Cancel, Clock, Key, Logger } from '../kernel/index.ts';
import type { RedisConnections } from '../redis/index.ts';
import type { Ceiling } from './ceiling.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { DelayStore } from './delay-store.ts';
import { Intake } from './intake.ts';
import type { KeyedQueue, Priority, Reconcile, StartOptions } from './keyed-queue.ts';
import { PROBE_KEY, Probe } from './probe.ts';
import { Promoter } from './promoter.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import { queueNames } from './queue-names.ts';
import type { QueueNames } from './queue-names.ts';
import { ReadyQueue } from './ready-queue.ts';
import { ResyncShare } from './resync-share.ts';
import { ShardWorker } from './shard-worker.ts';
import { TokenBucket } from './token-bucket.ts';
import type { RetryLimit } from './token-bucket.ts';

/** Between looks at how long the queue is. */
const MEASURE_INTERVAL = 2000;

/** What all queues of one replica share. */
export interface SharedParts {
  readonly redis: RedisConnections;
  readonly nextJobId: () => string;
  readonly isOpen: (shard: string) => boolean;
  readonly queueMetrics: QueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  readonly ceiling: Ceiling;
  readonly retryLimit: RetryLimit | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What exists while a queue is being worked. */
interface Work {
  readonly worker: ShardWorker;
  readonly promoter: Promoter;
  readonly probe: Probe;
  readonly stopMeasuring: Cancel;
}

/** A {@link KeyedQueue} in Redis. */
export class ShardQueue implements KeyedQueue {
  readonly shard: string;
  readonly #parts: SharedParts;
  readonly #names: QueueNames;
  readonly #ready: ReadyQueue;
  readonly #delays: DelayStore;
  readonly #intake: Intake;
  #isWanted = false;
  #isRemoved = false;
  #work: Work | undefined;
  /** Starting and stopping happen one after the other. */
  #transition: Promise<void> = Promise.resolve();

  constructor(shard: string, parts: SharedParts) {
    const { redis, nextJobId, clock } = parts;
    const logger = parts.logger.child({ shard });
    const producer = (): ReturnType<RedisConnections['producer']> => redis.producer();
    this.shard = shard;
    this.#parts = { ...parts, logger };
    this.#names = queueNames(redis.prefix, shard);
    this.#ready = new ReadyQueue({ redis: producer, names: this.#names, nextJobId, logger });
    this.#delays = new DelayStore(producer, this.#names);
    const onDelayed = (milliseconds: number): void => this.#work?.promoter.wake(milliseconds);
    const isOpen = (): boolean => !this.#isRemoved && parts.isOpen(shard);
    this.#intake = new Intake({ ready: this.#ready, delays: this.#delays, isOpen, onDelayed, clock, logger });
  }

  add(key: Key, options: { readonly priority?: Priority } = {}): void {
    this.#parts.queueMetrics.added(this.shard, key.kind);
    this.#intake.add(formatKey(key), options.priority ?? 'event');
  }

  addAfter(key: Key, milliseconds: number): void {
    if (milliseconds <= 0) return this.add(key);
    this.#parts.queueMetrics.retried(this.shard, key.kind);
    this.#intake.addAfter(formatKey(key), milliseconds);
  }

  start(reconcile: Reconcile, options: StartOptions): void {
    if (this.#isWanted) throw new AtollError(`the queue of ${this.shard} is started already`);
    this.#isWanted = true;
    this.#transition = this.#transition
      .then(() => this.#begin(reconcile, options))
      .catch((error: unknown) => {
        this.#parts.logger.error('the queue cannot be worked', { error });
      });
  }

  stop(deadline: number): Promise<void> {
    this.#isWanted = false;
    this.#transition = this.#transition.then(() => this.#end(deadline));
    return this.#transition;
  }

  async depth(): Promise<number> {
    const { event, resync } = await this.#ready.depth();
    return event + resync + this.#intake.size;
  }

  /** Writes what is kept here, and reads what could not be read before. Never rejects. */
  async flush(): Promise<void> {
    const isUnread = this.#work !== undefined && !this.#delays.isLoaded;
    await Promise.all([isUnread && this.#loadFailures(), this.#intake.flush()]);
  }

  /** Deletes everything that there is of the queue, which must be stopped, and writes nothing more. Rejects while Redis is down. */
  async remove(): Promise<void> {
    this.#isRemoved = true;
    await this.#ready.remove();
    await this.#delays.remove();
  }

  /** To be called when Redis was emptied. */
  async reset(): Promise<void> {
    await this.#ready.reset();
    this.#work?.probe.repeat();
  }

  #begin(reconcile: Reconcile, start: StartOptions): void {
    const { redis, clock, logger, controllerMetrics, queueMetrics, retryLimit } = this.#parts;
    const probe = new Probe({
      add: () => this.#intake.add(PROBE_KEY, 'event'),
      show: (seconds) => queueMetrics.probed(this.shard, seconds),
      clock,
    });
    const share = new ResyncShare(this.#ready, logger);
    const promoter = new Promoter({ delays: this.#delays, ready: this.#ready, clock, logger });
    const worker = new ShardWorker({
      ...this.#parts,
      redis,
      shard: this.shard,
      names: this.#names,
      delays: this.#delays,
      retries: retryLimit && new TokenBucket(clock, retryLimit),
      onDelayed: (milliseconds) => promoter.wake(milliseconds),
      onRan: () => share.ran(),
      onProbe: () => probe.ran(),
      reconcile,
      start,
    });
    void promoter.run();
    void this.#loadFailures();
    controllerMetrics.concurrency(this.shard, start.concurrency);
    this.#work = { worker, promoter, probe, stopMeasuring: this.#measureRepeatedly(worker, probe) };
  }

  async #end(deadline: number): Promise<void> {
    const work = this.#work;
    if (work === undefined) return;
    this.#work = undefined;
    work.promoter.stop();
    work.probe.stop();
    await work.worker.stop(deadline);
    work.stopMeasuring();
    this.#parts.queueMetrics.stopped(this.shard);
    this.#parts.controllerMetrics.concurrency(this.shard, 0);
  }

  async #loadFailures(): Promise<void> {
    try {
      await this.#delays.load();
    } catch (error) {
      // Only costs a round trip per success, until the next flush.
      this.#parts.logger.debug('the failures counted so far cannot be read', { error });
    }
  }

  #measureRepeatedly(worker: ShardWorker, probe: Probe): Cancel {
    const { clock } = this.#parts;
    const measure = (): void => {
      cancel = clock.after(MEASURE_INTERVAL, measure);
      probe.look();
      void this.#measure(worker);
    };
    let cancel = clock.after(MEASURE_INTERVAL, measure);
    return () => cancel();
  }

  async #measure(worker: ShardWorker): Promise<void> {
    const { queueMetrics, logger } = this.#parts;
    queueMetrics.running(this.shard, worker.running());
    try {
      const depth = await this.#ready.depth();
      if (this.#work?.worker === worker) queueMetrics.depth(this.shard, depth);
    } catch (error) {
      logger.debug('the length of the queue cannot be read', { error });
    }
  }
}
