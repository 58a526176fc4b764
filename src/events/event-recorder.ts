import { LeaseLostError, objectKey } from '../kernel/index.ts';
import type { Clock, Counter, KubernetesObject, Logger, Metrics, PolicyRule, Random } from '../kernel/index.ts';
import {
  AlreadyExistsError,
  NamespaceTerminatingError,
  NotFoundError,
  UnexpectedAnswerError,
  UnreachableError,
  writeAs,
} from '../kubernetes/index.ts';
import type { KubernetesClient, WriteContext } from '../kubernetes/index.ts';
import { EventCorrelator } from './event-correlator.ts';
import type { Correlation } from './event-correlator.ts';
import { EVENT, isRecordable, newEvent } from './event.ts';
import type { CoreEvent, EventNote, EventPort, EventSource } from './event.ts';

/** Options of {@link EventRecorder}. */
export interface EventRecorderOptions {
  readonly client: Pick<KubernetesClient, 'create' | 'jsonPatch'>;
  readonly source: EventSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Why an event was not written: the label `cause` of event_recorder_dropped_total. */
type DropCause = 'Invalid' | 'QueueFull' | 'Filtered' | 'LeaseLost' | 'Rejected' | 'Unreachable' | 'Closed';

interface Waiting {
  readonly event: CoreEvent;
  readonly guard: WriteContext['guard'];
}

const MAX_WAITING = 1000;
const MAX_TRIES = 12;
/** Milliseconds between two tries; before the second a random part of it, lest all replicas come back in step. */
const RETRY_INTERVAL = 10_000;

/** For how long what waits is still written after the close: a process that ends has leases to give back. Milliseconds. */
const CLOSE_TIME = 2000;

/** What recording needs, wherever the objects are; events of cluster-scoped objects are in the namespace `default`. */
export const eventRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
];

/** Writes events about objects of one cluster, thinned out and in order. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #correlator: EventCorrelator;
  readonly #waiting: Waiting[] = [];
  readonly #closing = new AbortController();
  readonly #written: Counter;
  readonly #aggregated: Counter;
  readonly #dropped: Counter;
  #moment = 0n;
  #writing: Promise<void> | undefined;
  /** On the monotonic clock. */
  #closesAt = Number.POSITIVE_INFINITY;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#correlator = new EventCorrelator(options.clock);
    const { metrics } = options;
    this.#written = metrics.counter({
      name: 'event_recorder_written_total',
      help: 'Events that an API server has taken, by type',
      labelNames: ['type'],
    });
    this.#aggregated = metrics.counter({
      name: 'event_recorder_aggregated_total',
      help: 'Events that were told as one with others that differ in their message',
      labelNames: [],
    });
    this.#dropped = metrics.counter({
      name: 'event_recorder_dropped_total',
      help: 'Events that were not written, by cause',
      labelNames: ['cause'],
    });
  }

  /**
   * Where those tell what happens who may write while a guard lets them. It is asked right before each sending, which may
   * be long after the run that told: so it is not the guard of a run, but of what the run worked for.
   */
  guardedBy(guard: (object: KubernetesObject) => void): EventPort {
    return { record: (object, note) => this.#record(object, note, () => guard(object)) };
  }

  /**
   * Takes no more, and resolves when what waits was tried once, or when the server does not take it. What has not had its
   * turn within 2 s is dropped.
   */
  async close(): Promise<void> {
    this.#closesAt = this.#options.clock.monotonic() + CLOSE_TIME;
    this.#closing.abort();
    await this.#writing;
  }

  #record(object: KubernetesObject, note: EventNote, guard: WriteContext['guard']): void {
    if (!isRecordable(object, note)) {
      this.#options.logger.error('event is none', { object: objectKey(object), reason: note.reason });
      this.#drop('Invalid');
      return;
    }
    if (this.#closing.signal.aborted) return this.#drop('Closed');
    if (this.#waiting.length >= MAX_WAITING) return this.#drop('QueueFull');
    this.#waiting.push({ event: newEvent(object, note, this.#options.source, this.#nextMoment()), guard });
    this.#writing ??= this.#write();
  }

  /** Nanoseconds, each one greater than the one before: clocks count milliseconds, or stand still. */
  #nextMoment(): bigint {
    const now = BigInt(Math.trunc(this.#options.clock.now())) * 1_000_000n;
    this.#moment = now > this.#moment ? now : this.#moment + 1n;
    return this.#moment;
  }

  async #write(): Promise<void> {
    // Not in the caller's turn: what it does next comes first.
    await Promise.resolve();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (this.#options.clock.monotonic() >= this.#closesAt) this.#drop('Closed');
      else await this.#writeOne(next);
    }
    this.#writing = undefined;
  }

  async #writeOne({ event, guard }: Waiting): Promise<void> {
    const correlation = this.#correlator.correlate(event, this.#nextMoment());
    if (correlation === undefined) return this.#drop('Filtered');
    if (correlation.isAggregate) this.#aggregated.inc({});
    for (let tries = 1; ; tries += 1) {
      const failure = await this.#try(correlation, guard);
      if (failure === undefined) return this.#written.inc({ type: event.type });
      const cause = this.#judge(failure, tries);
      if (cause !== undefined) return this.#giveUp(correlation.event, cause, failure);
      const delay = tries === 1 ? RETRY_INTERVAL * this.#options.random() : RETRY_INTERVAL;
      await this.#options.clock.sleep(delay, this.#closing.signal);
    }
  }

  /** @returns what went wrong */
  async #try(correlation: Correlation, guard: WriteContext['guard']): Promise<unknown> {
    try {
      await this.#send(correlation, writeAs(this.#options.source.component, { guard }));
      return undefined;
    } catch (error) {
      return error ?? new Error('something undefined was thrown');
    }
  }

  async #send({ event, isRepeated }: Correlation, write: WriteContext): Promise<void> {
    if (isRepeated && (await this.#isCountedOn(event, write))) return;
    await this.#options.client.create(event, write);
  }

  /** Raises the count of the event that the server has. It may have expired there: an hour is the default. */
  async #isCountedOn({ metadata, count, lastTimestamp, message }: CoreEvent, write: WriteContext): Promise<boolean> {
    const values = { count, lastTimestamp, message };
    const operations = Object.entries(values).map(([field, value]) => ({
      op: 'replace' as const,
      path: `/${field}`,
      value,
    }));
    try {
      await this.#options.client.jsonPatch({ gvk: EVENT, ...metadata }, operations, write);
      return true;
    } catch (error) {
      if (error instanceof NotFoundError) return false;
      throw error;
    }
  }

  /** Why an event is given up; undefined when it is to be tried again. */
  #judge(failure: unknown, tries: number): DropCause | undefined {
    if (failure instanceof LeaseLostError) return 'LeaseLost';
    const isUnheard = failure instanceof UnreachableError || failure instanceof UnexpectedAnswerError;
    if (!isUnheard) return 'Rejected';
    if (this.#closing.signal.aborted) return 'Closed';
    return tries >= MAX_TRIES ? 'Unreachable' : undefined;
  }

  #giveUp(event: CoreEvent, cause: DropCause, error: unknown): void {
    this.#drop(cause);
    const fields = { event: `${event.metadata.namespace}/${event.metadata.name}`, reason: event.reason, error };
    const isUsual = error instanceof AlreadyExistsError || error instanceof NamespaceTerminatingError;
    if (isUsual || cause === 'LeaseLost') this.#options.logger.debug('event not written', fields);
    else this.#options.logger.warn('event not written', fields);
    // A server that does not answer shall not hold up the end of the process once for each.
    if (cause === 'Closed') this.#dropAll();
  }

  #dropAll(): void {
    for (const _ of this.#waiting.splice(0)) this.#drop('Closed');
  }

  #drop(cause: DropCause): void {
    this.#dropped.inc({ cause });
  }
}
