import type { Job } from 'bullmq';
import { errorMessage, LeaseLostError, parseKey, WaitingError } from '../kernel/index.ts';
import type { Clock, Key, Logger } from '../kernel/index.ts';
import type { RedisConnections } from '../redis/index.ts';
import type { Ceiling } from './ceiling.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import type { DelayStore } from './delay-store.ts';
import type { Reconcile, StartOptions } from './keyed-queue.ts';
import { LockKeepingWorker } from './lock-keeping-worker.ts';
import { outcomeOfError, outcomeOfResult } from './outcome.ts';
import type { Move, Outcome } from './outcome.ts';
import { PROBE_KEY } from './probe.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import type { QueueNames } from './queue-names.ts';
import type { JobData } from './ready-queue.ts';
import type { TokenBucket } from './token-bucket.ts';

/** For abandoned runs to notice, and for BullMQ to be told that their keys shall run again. */
const UNWINDING = 500;
const POLL = 10;
const RESTART_AFTER = 1000;

/** What {@link ShardWorker} needs. */
export interface ShardWorkerOptions {
  readonly shard: string;
  readonly names: QueueNames;
  readonly redis: RedisConnections;
  readonly delays: DelayStore;
  /** Called when a key became due in so many milliseconds. */
  readonly onDelayed: (milliseconds: number) => void;
  readonly reconcile: Reconcile;
  readonly start: StartOptions;
  readonly ceiling: Ceiling;
  /** Holds back retries, when it is wanted that something does besides each key's own backoff. */
  readonly retries: TokenBucket | undefined;
  /** Called when a run has ended. */
  readonly onRan: () => void;
  /** Called when the probe has come through the queue. */
  readonly onProbe: () => void;
  readonly queueMetrics: QueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A run that is under way. */
interface Run {
  readonly startedAt: number;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/** A run that is over. */
interface Finished {
  readonly outcome: Outcome;
  readonly error?: unknown;
}

/** Runs the keys of one shard on the replica that owns it. */
export class ShardWorker {
  readonly #options: ShardWorkerOptions;
  readonly #worker: LockKeepingWorker;
  /** Key → its run in this process. */
  readonly #runs = new Map<string, Run>();
  #isStopped = false;
  /** The time to end by oneself is over. */
  #isAbandoned = false;

  constructor(options: ShardWorkerOptions) {
    this.#options = options;
    const { names, redis, start, clock, logger } = options;
    const parts = { names, redis: redis.blocking(), concurrency: start.concurrency, clock };
    this.#worker = new LockKeepingWorker((job, lock) => this.#process(job, lock), parts);
    this.#worker.on('stalled', (id) => logger.info('a key that its worker left behind runs again', { job: id }));
    this.#worker.on('error', (error) =>
      logger[redis.healthy() ? 'warn' : 'debug']('the worker has an error', { error }),
    );
    void this.#work();
  }

  /** BullMQ's loop ends only when it is told to; should it not, the queue must not stand still. */
  async #work(): Promise<void> {
    const { clock, logger } = this.#options;
    while (!this.#isStopped) {
      try {
        await this.#worker.run();
      } catch (error) {
        logger.error('the worker ended: it is begun again', { error });
        await clock.sleep(RESTART_AFTER);
      }
    }
  }

  /** For how many seconds each of the runs has been under way. */
  running(): number[] {
    const now = this.#options.clock.monotonic();
    return [...this.#runs.values()].map(({ startedAt }) => (now - startedAt) / 1000);
  }

  /** Takes no further key, waits for the running ones, then abandons them. Ends also when Redis is down. */
  async stop(deadline: number): Promise<void> {
    this.#isStopped = true;
    await this.#worker.pause(true);
    if (!(await this.#rests(deadline))) {
      this.#options.logger.info('runs are abandoned: they did not end in time', { runs: this.#runs.size });
      this.#isAbandoned = true;
      for (const { abort } of this.#runs.values()) abort.abort(new LeaseLostError('the queue was stopped'));
      await this.#rests(UNWINDING);
    }
    // Closing without force would wait for Redis; there is nothing left to wait for.
    await this.#worker.close(true);
  }

  async #rests(deadline: number): Promise<boolean> {
    const { clock, redis } = this.#options;
    const end = clock.monotonic() + deadline;
    const isAtRest = (): boolean => this.#runs.size === 0 && (!this.#worker.busy || !redis.healthy());
    while (!isAtRest() && clock.monotonic() < end) await clock.sleep(POLL);
    return isAtRest();
  }

  /** Throws only when BullMQ shall run the key again, because Redis could not be told anything about it. */
  async #process(job: Job<JobData>, lock: AbortSignal): Promise<void> {
    const text = job.data.key;
    if (text === PROBE_KEY) return this.#options.onProbe();
    // After Redis lost its data, or a lock, the key can come again while its old run is still under way here.
    while (this.#runs.has(text)) await this.#runs.get(text)?.ended;
    if (this.#isAbandoned) throw new LeaseLostError('the queue was stopped');
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const abort = new AbortController();
    lock.addEventListener('abort', () => abort.abort(new LeaseLostError('the lock of the key was lost')));
    this.#runs.set(text, { startedAt: this.#options.clock.monotonic(), abort, ended });
    try {
      const finished = await this.#inTurn(job, abort.signal);
      if (abort.signal.aborted) throw new LeaseLostError('the run was abandoned', { cause: finished.error });
      await this.#move(text, finished);
    } finally {
      this.#runs.delete(text);
      end();
    }
  }

  async #inTurn(job: Job<JobData>, signal: AbortSignal): Promise<Finished> {
    const leave = await this.#options.ceiling.enter(this.#options.shard, signal);
    try {
      return await this.#measured(job, signal);
    } finally {
      leave();
      this.#options.onRan();
    }
  }

  async #measured(job: Job<JobData>, signal: AbortSignal): Promise<Finished> {
    const { shard, queueMetrics, controllerMetrics, clock } = this.#options;
    const waited = Math.max(0, clock.now() - job.timestamp) / 1000;
    const startedAt = clock.monotonic();
    const kind = kindOf(job.data.key);
    controllerMetrics.started(kind);
    const finished = await this.#reconcile(job, signal);
    const worked = (clock.monotonic() - startedAt) / 1000;
    controllerMetrics.finished(kind, worked, finished);
    queueMetrics.ran(shard, kind, { waited, worked });
    return finished;
  }

  async #reconcile(job: Job<JobData>, signal: AbortSignal): Promise<Finished> {
    const guard = (): void => this.#guard(job, signal);
    try {
      const result = await this.#options.reconcile(parseKey(job.data.key), { signal, guard });
      return { outcome: outcomeOfResult(result) };
    } catch (error) {
      return { outcome: outcomeOfError(error), error };
    }
  }

  #guard(job: Job<JobData>, signal: AbortSignal): void {
    if (signal.aborted) throw new LeaseLostError('the run was abandoned', { cause: signal.reason });
    if (!this.#worker.isLocked(job)) throw new LeaseLostError('the lock of the key may have ended');
    this.#options.start.guard();
  }

  async #move(text: string, { outcome, error }: Finished): Promise<void> {
    const { delays } = this.#options;
    const { move } = outcome;
    const fields: Record<string, unknown> = { ...fieldsOf(text), error };
    switch (move.kind) {
      case 'leave':
        break;
      case 'forget':
        return delays.forget(text);
      case 'requeueAfter':
        await delays.forget(text);
        return this.#addAfter(text, move);
      case 'putBack':
        this.#options.logger.info('run put back: its lease or its lock may have ended', fields);
        return this.#addAfter(text, move);
      case 'backOff': {
        const { failures, delay } = await delays.backOff(text, this.#options.retries?.take());
        Object.assign(fields, { failures, retryIn: delay });
        this.#delayed(text, delay);
      }
    }
    this.#log(error, fields);
  }

  async #addAfter(text: string, move: Extract<Move, { milliseconds: number }>): Promise<void> {
    await this.#options.delays.addAfter(new Map([[text, move.milliseconds]]));
    this.#delayed(text, move.milliseconds);
  }

  #delayed(text: string, milliseconds: number): void {
    this.#options.queueMetrics.retried(this.#options.shard, kindOf(text));
    this.#options.onDelayed(milliseconds);
  }

  #log(error: unknown, fields: Record<string, unknown>): void {
    const { logger } = this.#options;
    if (error instanceof WaitingError) logger.info('reconcile waits', { ...fields, error: errorMessage(error) });
    else logger.error('reconcile failed', fields);
  }
}

/** What is in Redis is not trusted: a text that is no key gets an empty kind here, and a terminal error when it runs. */
function kindOf(text: string): string {
  return text.split('|', 2)[1] ?? '';
}

function fieldsOf(text: string): Key | { readonly key: string } {
  try {
    return parseKey(text);
  } catch {
    return { key: text };
  }
}
