import { Worker } from 'bullmq';
import type { Job } from 'bullmq';
import type { Clock } from '../kernel/index.ts';
import type { Redis } from '../redis/index.ts';
import type { QueueNames } from './queue-names.ts';
import type { JobData } from './ready-queue.ts';

/** For how long Redis keeps a run's lock; BullMQ renews it after 2 to 4 s. */
const LOCK_DURATION = 8000;
/** The share of that for which the lock is relied on: the rest is for the write that follows the look. */
const TRUSTED_SHARE = 0.8;
/** Between looks for keys whose worker died. A dead worker's key is found by the second look after its lock ended. */
const STALLED_INTERVAL = 2000;

/** What runs a job. The signal aborts when its lock is lost. */
export type Processor = (job: Job<JobData>, signal: AbortSignal) => Promise<void>;

/** What {@link LockKeepingWorker} needs. */
export interface LockKeepingWorkerOptions {
  readonly names: QueueNames;
  readonly redis: Redis;
  readonly concurrency: number;
  readonly clock: Clock;
}

/**
 * BullMQ's worker, which also knows until when each job's lock can be relied on, and whether it is at rest.
 *
 * A renewal proves the lock from the moment before it was sent, not from its answer: in between the process may have been
 * frozen for longer than the lock lasts.
 */
export class LockKeepingWorker extends Worker<JobData, void> {
  readonly #clock: Clock;
  /** Job → when it was last known to be locked, on the monotonic clock. */
  readonly #lockedAt = new Map<string, number>();
  #busy = 0;

  constructor(processor: Processor, options: LockKeepingWorkerOptions) {
    // BullMQ makes a signal only for functions that declare three parameters.
    super(options.names.queue, (job, _token, signal) => processor(job, signal ?? new AbortController().signal), {
      connection: options.redis,
      prefix: options.names.prefix,
      concurrency: options.concurrency,
      autorun: false,
      lockDuration: LOCK_DURATION,
      stalledInterval: STALLED_INTERVAL,
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      runRetryDelay: 1000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#clock = options.clock;
    this.on('lockRenewalFailed', (ids) => ids.forEach((id) => this.cancelJob(id)));
  }

  /** Whether a job is being fetched, run or completed. */
  get busy(): boolean {
    return this.#busy > 0;
  }

  /** Whether Redis still keeps the job's lock for certain. */
  isLocked(job: Job<JobData>): boolean {
    const lockedAt = this.#lockedAt.get(job.id ?? '');
    return lockedAt !== undefined && this.#clock.monotonic() - lockedAt < LOCK_DURATION * TRUSTED_SHARE;
  }

  override async extendJobLocks(jobIds: string[], tokens: string[], duration: number): Promise<string[]> {
    const sentAt = this.#clock.monotonic();
    const lost = await super.extendJobLocks(jobIds, tokens, duration);
    for (const id of jobIds) {
      if (!lost.includes(id) && this.#lockedAt.has(id)) this.#lockedAt.set(id, sentAt);
    }
    return lost;
  }

  override async processJob(
    job: Job<JobData>,
    token: string,
    fetchNext?: () => boolean,
  ): Promise<void | Job<JobData, void>> {
    const id = job.id ?? '';
    // BullMQ notes the wall clock right before it sends for a job; what has passed since is all that is taken from it.
    const age = Math.max(0, this.#clock.now() - (job.processedOn ?? 0));
    this.#lockedAt.set(id, this.#clock.monotonic() - age);
    return this.#whileBusy(() => super.processJob(job, token, fetchNext)).finally(() => this.#lockedAt.delete(id));
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<JobData, void>> {
    // A worker that was paused while it waited is woken by the next key, which then is for somebody else.
    if (this.paused) return undefined as unknown as Job<JobData, void>;
    return this.#whileBusy(() => super.moveToActive(token, name));
  }

  async #whileBusy<T>(action: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await action();
    } finally {
      this.#busy -= 1;
    }
  }
}
