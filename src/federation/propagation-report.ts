import type { ApplyOutcome } from '../apply/index.ts';
import { errorMessage } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { ForbiddenError, InvalidError, UnknownFieldError } from '../kubernetes/index.ts';
import { OverrideError } from '../manifests/index.ts';
import type { StatusRow } from './status-rows.ts';

/** Fields of a member object's status that are shown on the hub, when it has them. */
const OBSERVED_FIELDS = ['readyReplicas', 'currentVersion'] as const;

/** Errors that will not go away by themselves, with the reason that they are shown under. */
const blocking: readonly [new (...parameters: never[]) => Error, string][] = [
  [OverrideError, 'OverrideFailed'],
  [InvalidError, 'Invalid'],
  [UnknownFieldError, 'Invalid'],
  [ForbiddenError, 'Forbidden'],
];

/** The row that an apply ended with. */
export function reportOf(outcome: ApplyOutcome, targetRevision: string): StatusRow {
  switch (outcome.result) {
    case 'foreign':
      return { targetRevision, state: 'Conflict', reason: 'NotOurs', message: outcome.message };
    case 'conflict':
      return { targetRevision, state: 'Conflict', reason: 'FieldManagerConflict', message: outcome.message };
    case 'created':
    case 'updated':
    case 'unchanged':
      return { targetRevision, state: 'Synced', reason: 'Synced', message: '', ...observe(outcome.object) };
  }
}

/** The row for a failed attempt: only for errors that stay; passing ones are retried without being shown. */
export function reportOfError(error: unknown, targetRevision: string): StatusRow | undefined {
  const reason = blocking.find(([type]) => error instanceof type)?.[1];
  if (reason === undefined) return undefined;
  return { targetRevision, state: 'Blocked', reason, message: errorMessage(error).slice(0, 256) };
}

/** Phase and figures of the member object, once its controller has seen the generation that it has now. */
function observe(object: KubernetesObject): Pick<StatusRow, 'phase' | 'observed'> {
  const status = (object['status'] ?? {}) as Readonly<Record<string, unknown>>;
  const current = status['observedGeneration'] === object.metadata.generation;
  const phase = current && typeof status['phase'] === 'string' ? status['phase'] : 'Progressing';
  const observed = Object.fromEntries(
    OBSERVED_FIELDS.map((field): [string, unknown] => [field, status[field]]).filter(isFigure),
  );
  return { phase, ...(Object.keys(observed).length === 0 ? {} : { observed }) };
}

function isFigure(entry: [string, unknown]): entry is [string, string | number] {
  return typeof entry[1] === 'string' || typeof entry[1] === 'number';
}
