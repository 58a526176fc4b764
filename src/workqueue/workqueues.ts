import type { Cancel, Clock, Logger, Metrics, Random } from '../kernel/index.ts';
import type { RedisConnections } from '../redis/index.ts';
import { Ceiling } from './ceiling.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import { Generation } from './generation.ts';
import type { KeyedQueue } from './keyed-queue.ts';
import { generationKey } from './queue-names.ts';
import { QueueMetrics } from './queue-metrics.ts';
import { ShardQueue } from './shard-queue.ts';
import type { SharedParts } from './shard-queue.ts';
import type { RetryLimit } from './token-bucket.ts';

/** Between looks whether Redis was emptied while the connection stood (FLUSHALL). */
const CHECK_INTERVAL = 5000;
/** For queues that were not stopped before. */
const CLOSE_DEADLINE = 1000;

/** What {@link Workqueues} needs. */
export interface WorkqueuesOptions {
  /** How many keys run at the same time in all queues together; of each queue, one always may. */
  readonly maxConcurrency: number;
  /** Holds back the retries of each queue, besides each key's own backoff. */
  readonly retryLimit?: RetryLimit | undefined;
  readonly redis: RedisConnections;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The queues of all shards, as one replica sees them. Connects to Redis when the first queue is asked for. */
export class Workqueues {
  readonly #options: WorkqueuesOptions;
  readonly #queues = new Map<string, ShardQueue>();
  /** By shard in a Cluster; else one, of all ({@link ALL}). */
  readonly #generations = new Map<string, Generation>();
  readonly #parts: SharedParts;
  readonly #unique: () => string;
  readonly #lossCallbacks: (() => void)[] = [];
  #cancelCheck: Cancel | undefined;
  #closed = false;

  constructor(options: WorkqueuesOptions) {
    const { redis, clock, random, logger, metrics, maxConcurrency, retryLimit } = options;
    const unique = (): string => `${digits(random)}${digits(random)}`;
    // Tells this process' jobs from others', so that an answer with another id means: it waited already.
    const process = unique();
    let jobs = 0;
    this.#options = options;
    this.#unique = unique;
    this.#parts = {
      redis,
      nextJobId: () => `${process}-${(jobs += 1)}`,
      isOpen: (shard) => !this.#closed && this.#generationOf(shard).known,
      queueMetrics: new QueueMetrics(metrics),
      controllerMetrics: new ControllerMetrics(metrics),
      ceiling: new Ceiling(maxConcurrency),
      retryLimit,
      clock,
      logger,
    };
    redis.onReady(() => void this.#check());
  }

  /** The queue of a shard: always the same for the same name. */
  queue(shard: string): KeyedQueue {
    let queue = this.#queues.get(shard);
    if (queue === undefined) {
      queue = new ShardQueue(shard, this.#parts);
      this.#queues.set(shard, queue);
      const isKnown = this.#generationOf(shard).known;
      if (this.#cancelCheck === undefined) this.#open();
      else if (!isKnown) void this.#check();
    }
    return queue;
  }

  /**
   * Forgets a queue and deletes what Redis has of it: its shard is no more. What another replica adds later stays there
   * until the shard comes back. One that came back meanwhile has lost what was added: every key is added again. Rejects
   * while Redis is down.
   */
  async remove(shard: string): Promise<void> {
    const queue = this.#queues.get(shard) ?? new ShardQueue(shard, this.#parts);
    this.#queues.delete(shard);
    await queue.stop(CLOSE_DEADLINE);
    await queue.remove();
    if (this.#queues.has(shard)) return this.#again();
    if (!this.#options.redis.isCluster) return;
    await this.#generationOf(shard).remove();
    this.#generations.delete(shard);
  }

  /** Calls back when Redis came back without what was written to it: every key is to be added again. */
  onDataLoss(callback: () => void): void {
    this.#lossCallbacks.push(callback);
  }

  /** Stops what still runs, and writes what is kept here if Redis takes it. Ends within two seconds. */
  async close(): Promise<void> {
    const { clock } = this.#options;
    const queues = [...this.#queues.values()];
    this.#cancelCheck?.();
    await Promise.all(queues.map((queue) => queue.stop(CLOSE_DEADLINE)));
    await Promise.race([Promise.all(queues.map((queue) => queue.flush())), clock.sleep(CLOSE_DEADLINE)]);
    this.#closed = true;
  }

  #generationOf(shard: string): Generation {
    const { redis } = this.#options;
    const of = redis.isCluster ? shard : ALL;
    let generation = this.#generations.get(of);
    if (generation === undefined) {
      const key = redis.isCluster ? generationKey(redis.prefix, shard) : generationKey(redis.prefix);
      generation = new Generation({ redis: () => redis.producer(), key, next: this.#unique });
      this.#generations.set(of, generation);
    }
    return generation;
  }

  #open(): void {
    // Asked for here, so that the connection is made and onReady comes.
    this.#options.redis.producer();
    this.#checkLater();
  }

  /** Queues write their settings again, and everybody adds every key again. */
  async #again(): Promise<void> {
    try {
      await Promise.all([...this.#queues.values()].map((queue) => queue.reset()));
    } catch (error) {
      this.#options.logger.info('the settings of a queue could not be written again', { error });
    }
    for (const callback of this.#lossCallbacks) callback();
  }

  #checkLater(): void {
    this.#cancelCheck = this.#options.clock.after(CHECK_INTERVAL, () => {
      this.#checkLater();
      void this.#check();
    });
  }

  /** Nothing is written before a generation is known: what would be lost then would not be missed. */
  async #check(): Promise<void> {
    const { logger } = this.#options;
    const checks = await Promise.allSettled([...this.#generations.values()].map((generation) => generation.check()));
    for (const check of checks) {
      if (check.status === 'rejected')
        logger.debug('redis cannot be asked for its generation now', { error: check.reason });
    }
    if (checks.some((check) => check.status === 'fulfilled' && check.value)) {
      logger.warn('redis lost data, or may have: every key is added again');
      await this.#again();
    }
    for (const queue of this.#queues.values()) void queue.flush();
  }
}

/** Of the queues that lie on one server, whichever they are. */
const ALL = '';

/** Some 50 random bits as text. */
function digits(random: Random): string {
  return Math.floor(random() * 2 ** 50).toString(36);
}
