import { Queue } from 'bullmq';
import type { Job, JobsOptions } from 'bullmq';
import { AtollError } from '../kernel/index.ts';
import type { Logger } from '../kernel/index.ts';
import type { Redis } from '../redis/index.ts';
import type { Priority } from './keyed-queue.ts';
import type { QueueNames } from './queue-names.ts';

/** What a job holds. */
export interface JobData {
  readonly key: string;
}

/** BullMQ takes what has no priority first, then the lower numbers. */
const RESYNC_PRIORITY = 10;

/** What BullMQ's scripts answer when a job is gone. */
const JOB_IS_GONE = -1;

/** The keys of one queue that may run now: BullMQ's part, with its deduplication as dirty and processing set. */
export class ReadyQueue {
  readonly #redis: () => Redis;
  readonly #names: QueueNames;
  readonly #nextJobId: () => string;
  readonly #logger: Logger;
  #queue: Queue<JobData> | undefined;

  constructor(options: {
    readonly redis: () => Redis;
    readonly names: QueueNames;
    readonly nextJobId: () => string;
    readonly logger: Logger;
  }) {
    this.#redis = options.redis;
    this.#names = options.names;
    this.#nextJobId = options.nextJobId;
    this.#logger = options.logger;
  }

  /** Adds keys: those that wait already stay as they are, those that run now will run once more. */
  async add(keys: ReadonlyMap<string, Priority>): Promise<void> {
    const queue = this.#open();
    const wanted = [...keys].map(([key, priority]) => ({ priority, options: this.#jobOptions(key, priority), key }));
    const jobs = await queue.addBulk(
      wanted.map(({ key, options }) => ({ name: 'reconcile', data: { key }, opts: options })),
    );
    const deduplicated = jobs.filter((job, index) => {
      const { priority, options } = wanted[index] ?? {};
      return priority === 'event' && job.id !== options?.jobId;
    });
    await this.#raise(queue, deduplicated);
  }

  /** How many keys wait, by priority. */
  async depth(): Promise<Readonly<Record<Priority, number>>> {
    const counts = await this.#open().getJobCounts('wait', 'prioritized');
    return { event: counts['wait'] ?? 0, resync: counts['prioritized'] ?? 0 };
  }

  /** Lets the oldest resyncs, so many at most, wait as events when there are events that they would wait for. */
  async raiseOldest(count: number): Promise<void> {
    const { event, resync } = await this.depth();
    if (event === 0 || resync === 0) return;
    const oldest = await this.#open().getJobs(['prioritized'], 0, count - 1, true);
    await Promise.all(oldest.map((job) => raise(job)));
  }

  /** Deletes everything that there is of the queue. */
  async remove(): Promise<void> {
    await this.#open().obliterate({ force: true });
    await this.reset();
  }

  /** To be called when Redis was emptied: the queue's own settings are written again. */
  async reset(): Promise<void> {
    const old = this.#queue;
    this.#queue = undefined;
    await old?.close();
  }

  #open(): Queue<JobData> {
    const redis = this.#redis();
    // A queue that is made before the connection is ready would let its first commands wait instead of rejecting.
    if (redis.status !== 'ready') throw new AtollError('redis is not ready');
    this.#queue ??= this.#create(redis);
    return this.#queue;
  }

  #create(redis: Redis): Queue<JobData> {
    const { queue: name, prefix } = this.#names;
    const queue = new Queue<JobData>(name, {
      connection: redis,
      prefix,
      skipVersionCheck: true,
      streams: { events: { maxLen: 100 } },
    });
    queue.on('error', (error) => this.#logger.debug('the queue has an error', { error }));
    return queue;
  }

  /** No delay, ever: BullMQ's would hold back an immediate add. The attempts only catch a move that Redis did not take. */
  #jobOptions(key: string, priority: Priority): JobsOptions {
    return {
      jobId: this.#nextJobId(),
      deduplication: { id: key, keepLastIfActive: true },
      removeOnComplete: true,
      removeOnFail: true,
      attempts: Number.MAX_SAFE_INTEGER,
      backoff: { type: 'fixed', delay: 1000 },
      stackTraceLimit: 1,
      ...(priority === 'resync' && { priority: RESYNC_PRIORITY }),
    };
  }

  /** Adding again does not raise a waiting job. Only one that waits as a resync is moved: others would lose their place. */
  async #raise(queue: Queue<JobData>, jobs: readonly Job<JobData>[]): Promise<void> {
    if (jobs.length === 0) return;
    const pipeline = this.#redis().pipeline();
    for (const job of jobs) pipeline.hget(queue.toKey(job.id ?? ''), 'priority');
    const priorities = (await pipeline.exec()) ?? [];
    const low = jobs.filter((_, index) => Number(priorities[index]?.[1] ?? 0) > 0);
    await Promise.all(low.map((job) => raise(job)));
  }
}

async function raise(job: Job<JobData>): Promise<void> {
  try {
    await job.changePriority({ priority: 0 });
  } catch (error) {
    // It ran meanwhile, after our add: what the add asked for has happened.
    if ((error as { code?: unknown }).code !== JOB_IS_GONE) throw error;
  }
}
