import { formatTime } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';

/** What happened to an object. */
export interface EventNote {
  /** `Warning` asks for somebody's attention. */
  readonly type: 'Normal' | 'Warning';
  /** One word in UpperCamelCase, from a bounded set: alerts and scripts select by it. */
  readonly reason: string;
  /** A sentence for people. Equal happenings have equal messages: no times, no counters. Never anything secret. */
  readonly message: string;
}

/** Where happenings are told. */
export interface EventPort {
  /** Tells what happened to an object. Returns at once and never throws. */
  record(object: KubernetesObject, note: EventNote): void;
}

/** Who tells: `source` of an event. */
export interface EventSource {
  readonly component: string;
  readonly host: string;
}

/** A core/v1 Event ({@link https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/}). */
export interface CoreEvent extends KubernetesObject {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly involvedObject: Readonly<Record<string, string>>;
  readonly type: EventNote['type'];
  readonly reason: string;
  readonly message: string;
  readonly source: EventSource;
  readonly reportingComponent: string;
  readonly reportingInstance: string;
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
}

export const EVENT = { group: '', version: 'v1', kind: 'Event' };

const MAX_MESSAGE_BYTES = 1024;
const MAX_NAME = 253;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const UPPER_CAMEL_CASE = /^[A-Z][A-Za-z0-9]{0,127}$/;

/** Whether an object and a note are such that an API server would take the event. */
export function isRecordable(object: KubernetesObject, { reason, message }: EventNote): boolean {
  return UPPER_CAMEL_CASE.test(reason) && message !== '' && (object.metadata.name ?? '') !== '';
}

/**
 * The event that tells a note for the first time.
 *
 * @param moment nanoseconds since the epoch, never the same twice: it makes the name unique
 */
export function newEvent(object: KubernetesObject, note: EventNote, source: EventSource, moment: bigint): CoreEvent {
  const { apiVersion, kind, metadata } = object;
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  const now = formatTime(Number(moment / 1_000_000n));
  const reference = { apiVersion, kind, name, namespace, uid, resourceVersion };
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: eventName(name, moment), namespace: namespace === '' ? 'default' : namespace },
    involvedObject: Object.fromEntries(Object.entries(reference).filter(([, value]) => value !== '')),
    type: note.type,
    reason: note.reason,
    message: shortened(note.message),
    source,
    reportingComponent: source.component,
    reportingInstance: source.host,
    count: 1,
    firstTimestamp: now,
    lastTimestamp: now,
  };
}

/** "sessions.18a2b3c4d5e6f708": the object's name and the moment. An object's name may be none for an event. */
export function eventName(name: string, moment: bigint): string {
  const suffix = moment.toString(16);
  const full = `${name}.${suffix}`;
  return full.length <= MAX_NAME && SUBDOMAIN.test(full) ? full : `event.${suffix}`;
}

/** At most 1 KiB of UTF-8, cut between characters. */
export function shortened(message: string): string {
  const bytes = Buffer.from(message);
  if (bytes.length <= MAX_MESSAGE_BYTES) return message;
  const end = '…';
  const kept = bytes.subarray(0, MAX_MESSAGE_BYTES - Buffer.byteLength(end)).toString('utf8');
  return `${kept.replace(/\uFFFD$/, '')}${end}`;
}
