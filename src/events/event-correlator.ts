import type { Clock } from '../kernel/index.ts';
import { eventName, shortened } from './event.ts';
import type { CoreEvent } from './event.ts';
import { RecentMap } from './recent-map.ts';

/** What is to be done with an event. */
export interface Correlation {
  readonly event: CoreEvent;
  /** The server has it already, with a lower count. */
  readonly isRepeated: boolean;
  /** It stands for several that differ in their message. */
  readonly isAggregate: boolean;
}

interface Similar {
  /** Messages seen, at most so many as make an aggregate. */
  readonly messages: Set<string>;
  readonly lastSeen: number;
}

interface Written {
  readonly count: number;
  readonly firstTimestamp: string;
  readonly name: string;
}

interface Bucket {
  readonly tokens: number;
  readonly filledAt: number;
}

/** How many recent events, objects and reasons are remembered, each. */
const MAX_ENTRIES = 4096;
/** So many similar events, no more than so long apart, are told as one. Milliseconds. */
const AGGREGATED_FROM = 10;
const AGGREGATION_INTERVAL = 600_000;
/** So many events of a type about an object at once, and one more each such time. Milliseconds. */
const BURST = 25;
const REFILL_INTERVAL = 300_000;

/**
 * Thins events out before they are written, as client-go's EventCorrelator does: similar ones become one, equal ones a
 * count, and an object that has something to say all the time is heard every 5 minutes.
 */
export class EventCorrelator {
  readonly #clock: Clock;
  readonly #similar = new RecentMap<Similar>(MAX_ENTRIES);
  readonly #written = new RecentMap<Written>(MAX_ENTRIES);
  readonly #buckets = new RecentMap<Bucket>(MAX_ENTRIES);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aggregates, counts, filters: `undefined` for an event that is not to be written. */
  correlate(event: CoreEvent, moment: bigint): Correlation | undefined {
    const isAggregate = this.#isAggregate(event);
    const told = isAggregate ? aggregateOf(event, moment) : event;
    const counted = this.#count(told, isAggregate ? similarKey(event) : equalKey(event));
    if (!this.#takeToken(counted)) return undefined;
    return { event: counted, isRepeated: counted.count > 1, isAggregate };
  }

  #isAggregate(event: CoreEvent): boolean {
    const now = this.#clock.monotonic();
    const key = similarKey(event);
    const known = this.#similar.get(key);
    const isOld = known === undefined || now - known.lastSeen > AGGREGATION_INTERVAL;
    const messages = isOld ? new Set<string>() : known.messages;
    messages.add(event.message);
    this.#similar.set(key, { messages, lastSeen: now });
    if (messages.size < AGGREGATED_FROM) return false;
    const [oldest] = messages;
    if (oldest !== undefined) messages.delete(oldest);
    return true;
  }

  /** The event under the name and with the time of its first occurrence, counted on. */
  #count(event: CoreEvent, key: string): CoreEvent {
    const last = this.#written.get(key);
    const { count, firstTimestamp, metadata } = event;
    const counted =
      last === undefined
        ? event
        : {
            ...event,
            metadata: { ...metadata, name: last.name },
            firstTimestamp: last.firstTimestamp,
            count: last.count + 1,
          };
    this.#written.set(key, {
      count: last === undefined ? count : last.count + 1,
      firstTimestamp: last?.firstTimestamp ?? firstTimestamp,
      name: last?.name ?? metadata.name,
    });
    return counted;
  }

  #takeToken(event: CoreEvent): boolean {
    const now = this.#clock.monotonic();
    const key = sourceAndObjectKey(event);
    const bucket = this.#buckets.get(key) ?? { tokens: BURST, filledAt: now };
    const filled = Math.min(BURST, bucket.tokens + (now - bucket.filledAt) / REFILL_INTERVAL);
    const isTaken = filled >= 1;
    this.#buckets.set(key, { tokens: isTaken ? filled - 1 : filled, filledAt: now });
    return isTaken;
  }
}

function aggregateOf(event: CoreEvent, moment: bigint): CoreEvent {
  const { involvedObject, metadata, message } = event;
  return {
    ...event,
    metadata: { ...metadata, name: eventName(involvedObject['name'] ?? '', moment) },
    message: shortened(`(combined from similar events): ${message}`),
  };
}

function similarKey(event: CoreEvent): string {
  return JSON.stringify([sourceAndObjectKey(event), event.reason]);
}

function equalKey(event: CoreEvent): string {
  return JSON.stringify([sourceAndObjectKey(event), event.reason, event.message]);
}

function sourceAndObjectKey({ source, involvedObject, type }: CoreEvent): string {
  const { kind, namespace, name, uid, apiVersion } = involvedObject;
  return JSON.stringify([source.component, source.host, kind, namespace, name, uid, apiVersion, type]);
}
