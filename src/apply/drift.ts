import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import type { FieldConflict } from '../kubernetes/index.ts';
import { APPLIED_HASH_ANNOTATION } from './in-sync.ts';
import { applyEntry, leavesOf } from './managed-fields.ts';

/**
 * Field managers behind which a person sits: "kubectl" and all that begin with "kubectl-" (edit, patch, label, annotate,
 * set, client-side-apply …). Only their updates count: a `kubectl apply --server-side` is another applier.
 */
export const INTERACTIVE_MANAGERS: readonly string[] = ['kubectl'];

/** The name under which an API server lists what was there before anybody's fields were recorded: nobody in person. */
const UNRECORDED = 'before-first-apply';

/** What a judgement about drift is based on. */
export interface DriftEvidence {
  /** The object as it would be sent. */
  readonly body: KubernetesObject;
  /** The object as it is. */
  readonly live: KubernetesObject;
  readonly fieldManager: string;
  readonly interactiveManagers: readonly string[];
}

/**
 * Whether everybody else who holds a field of what we want is a person who can have taken it from our last apply. Then
 * a forced apply takes nothing from anybody but them, provided that it is tied to this live object's resourceVersion.
 */
export function isHeldByDriftOnly(evidence: DriftEvidence): boolean {
  const { body, live, fieldManager } = evidence;
  const ours = applyEntry(live, fieldManager);
  const rivals = (live.metadata.managedFields ?? []).filter(
    (entry) => entry !== ours && leavesOf(body, entry).some((leaf) => leaf.owned),
  );
  return rivals.length > 0 && rivals.every((entry) => isDrift(entry, evidence));
}

/** Whether every conflict of a refused apply is drift, judged by a live object read after the refusal. */
export function areDrift(conflicts: readonly FieldConflict[], evidence: DriftEvidence): boolean {
  return conflicts.every((conflict) => {
    if (conflict.manager === UNRECORDED) return wasAppliedByUs(evidence.live);
    const entries = (evidence.live.metadata.managedFields ?? []).filter((entry) => names(conflict, entry));
    return entries.length > 0 && entries.every((entry) => isDrift(entry, evidence));
  });
}

function names(conflict: FieldConflict, entry: ManagedFieldsEntry): boolean {
  return (
    entry.manager === conflict.manager &&
    (entry.subresource ?? '') === (conflict.subresource ?? '') &&
    (conflict.operation === undefined || entry.operation === conflict.operation)
  );
}

/**
 * An interactive update of the object itself. When the same desired state was applied before, the field was ours.
 * When the desired state is new, it can have been ours only if the person wrote after our last apply; else our last
 * apply lived beside that field, which is the person's.
 */
function isDrift(entry: ManagedFieldsEntry, { body, live, fieldManager, interactiveManagers }: DriftEvidence): boolean {
  const ours = applyEntry(live, fieldManager);
  if (ours === undefined || entry.operation !== 'Update' || entry.subresource) return false;
  if (!isInteractive(entry.manager ?? '', interactiveManagers)) return false;
  return hashOf(live) === hashOf(body) || (entry.time ?? '') >= (ours.time ?? '');
}

function isInteractive(manager: string, interactive: readonly string[]): boolean {
  return interactive.some((name) => manager === name || manager.startsWith(`${name}-`));
}

function wasAppliedByUs(live: KubernetesObject): boolean {
  return hashOf(live) !== undefined;
}

function hashOf(object: KubernetesObject): string | undefined {
  return object.metadata.annotations?.[APPLIED_HASH_ANNOTATION];
}
