import { isDeepStrictEqual } from 'node:util';
import type { PlacementRow } from '../api/index.ts';
import { describeFields } from '../apply/index.ts';
import type { AppliedOutcome, ApplyOutcome } from '../apply/index.ts';
import { errorMessage } from '../kernel/index.ts';
import type { Condition, KubernetesObject } from '../kernel/index.ts';
import {
  ForbiddenError,
  InvalidError,
  KindNotFoundError,
  NamespaceTerminatingError,
  UnknownFieldError,
  UnsendableError,
  WebhookUnavailableError,
} from '../kubernetes/index.ts';
import { OverrideError } from '../manifests/index.ts';
import type { StatusRow } from './status-rows.ts';

/** Fields of a member object's status that are shown on the hub, when it has them. */
const OBSERVED_FIELDS = ['readyReplicas', 'currentVersion'] as const;

/** Messages on the hub are no longer than this. */
const MESSAGE_LENGTH = 256;
const SECOND = 1000;

/** How an error is shown, and when to look again although nothing may have told that its cause is gone. */
interface Blockage {
  readonly reason: string;
  /** Milliseconds; undefined when only a change of the object, of its placement or of the member can help. */
  readonly retryAfter?: number;
}

/** Errors that stay for a while, by class; the first that fits. */
const blockages: readonly [new (...parameters: never[]) => Error, Blockage][] = [
  [OverrideError, { reason: 'OverrideFailed' }],
  [InvalidError, { reason: 'Invalid' }],
  [UnknownFieldError, { reason: 'Invalid' }],
  [UnsendableError, { reason: 'Invalid' }],
  [NamespaceTerminatingError, { reason: 'NamespaceTerminating', retryAfter: 5 * SECOND }],
  [WebhookUnavailableError, { reason: 'WebhookUnavailable', retryAfter: 5 * SECOND }],
  [ForbiddenError, { reason: 'Forbidden', retryAfter: 60 * SECOND }],
  [KindNotFoundError, { reason: 'KindNotFound', retryAfter: 30 * SECOND }],
];

/** The row that an apply ended with. */
export function reportOf(outcome: ApplyOutcome, targetRevision: string): StatusRow {
  switch (outcome.result) {
    case 'foreign':
      return { targetRevision, state: 'Conflict', reason: 'NotOurs', message: shorten(outcome.message) };
    case 'blocked':
      return { targetRevision, state: 'Blocked', reason: 'FieldManagerConflict', message: shorten(outcome.message) };
    case 'recreating':
      return { targetRevision, state: 'OutOfDate', reason: 'Recreating', message: shorten(outcome.message) };
    case 'created':
    case 'updated':
    case 'unchanged':
      return syncedReport(outcome, targetRevision);
  }
}

/** What the object says of itself comes first, then what of it is not as Git has it. */
function syncedReport(outcome: AppliedOutcome, targetRevision: string): StatusRow {
  const { message, ...observed } = observe(outcome.object);
  const exception = exceptionOf(outcome);
  const texts = [message, exception.message].filter((text) => text !== '');
  return { targetRevision, state: 'Synced', reason: exception.reason, ...observed, message: shorten(texts.join('; ')) };
}

/**
 * What of an object in sync is not as Git has it, and why that is right so. The worst comes first: a value that goes back
 * and forth, then what others hold, then what admission makes of it.
 */
function exceptionOf(outcome: AppliedOutcome): Pick<StatusRow, 'reason' | 'message'> {
  const { left, rewritten, outdated } = outcome;
  if (outdated === true) return { reason: 'NotUpdated', message: 'spec.policy.updates is Never' };
  if (left.length > 0) {
    const reason = left.some(({ why }) => why === 'flipping') ? 'FieldsFlipping' : 'FieldsLeft';
    return { reason, message: `left to others: ${describeFields(left)}` };
  }
  if (rewritten.length === 0) return exceptionOfChildren(outcome.object);
  return { reason: 'FieldsRewritten', message: `rewritten by admission: ${rewritten.toSorted().join(', ')}` };
}

/** What the object's own controller leaves to others of what it makes. */
function exceptionOfChildren(object: KubernetesObject): Pick<StatusRow, 'reason' | 'message'> {
  const { conditions } = (object['status'] ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
  const left = conditions?.find(({ type, status }) => type === 'FieldsLeft' && status === 'True');
  return left === undefined
    ? { reason: 'Synced', message: '' }
    : { reason: 'FieldsLeft', message: `left to others: ${left.message}` };
}

/** A failed attempt as it is shown. */
export interface FailureReport {
  readonly row: StatusRow;
  readonly retryAfter: number | undefined;
}

/** The row for a failed attempt: only for errors that stay; passing ones are retried without being shown. */
export function reportOfError(error: unknown, targetRevision: string): FailureReport | undefined {
  const blockage = blockages.find(([type]) => error instanceof type)?.[1];
  if (blockage === undefined) return undefined;
  const { reason, retryAfter } = blockage;
  return { row: { targetRevision, state: 'Blocked', reason, message: shorten(errorMessage(error)) }, retryAfter };
}

/**
 * Whether the hub shows a report already. A report that was left before and is not shown lost its messenger: a replica
 * died after it wrote the row and before it told the hub's worker.
 */
export function isShown(report: StatusRow, shown: PlacementRow | undefined): boolean {
  return (
    shown?.targetRevision === report.targetRevision &&
    shown.state === report.state &&
    shown.reason === report.reason &&
    shown.message === report.message &&
    (report.phase === undefined || shown.phase === report.phase) &&
    (report.observed === undefined || isDeepStrictEqual(shown.observed, report.observed))
  );
}

function shorten(message: string): string {
  return message.slice(0, MESSAGE_LENGTH);
}

/** Phase, message and figures of the member object, once its controller has seen the generation that it has now. */
function observe(object: KubernetesObject): Pick<StatusRow, 'phase' | 'message' | 'observed'> {
  const status = (object['status'] ?? {}) as Readonly<Record<string, unknown>>;
  const current = status['observedGeneration'] === object.metadata.generation;
  const phase = current && typeof status['phase'] === 'string' ? status['phase'] : 'Progressing';
  const message = current && typeof status['message'] === 'string' ? shorten(status['message']) : '';
  const observed = Object.fromEntries(
    OBSERVED_FIELDS.map((field): [string, unknown] => [field, status[field]]).filter(isFigure),
  );
  return { phase, message, ...(Object.keys(observed).length === 0 ? {} : { observed }) };
}

function isFigure(entry: [string, unknown]): entry is [string, string | number] {
  return typeof entry[1] === 'string' || typeof entry[1] === 'number';
}
