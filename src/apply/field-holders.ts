import type { ManagedFieldsEntry } from '../kernel/index.ts';
import type { Leaf } from './managed-fields.ts';

/**
 * Who holds a field that we want:
 * - `person`: an interactive writer, in its own right: it wrote the field before we wanted it
 * - `drift`: an interactive writer that can have taken the field only from our last apply
 * - `scale`: whoever wrote through the `scale` subresource
 * - `autoscaler`: one that is known to be one
 * - `applier`: another manager's server-side apply
 * - `controller`: any other manager
 */
export type Holding = 'person' | 'drift' | 'scale' | 'autoscaler' | 'applier' | 'controller';

/** Field managers by what they are. A name that ends with `*` stands for all that begin so. */
export interface FieldManagers {
  /** Behind these sits a person. Only their updates count: a `kubectl apply --server-side` is another applier. */
  readonly interactive: readonly string[];
  /** These set `replicas` as long as they run. */
  readonly autoscalers: readonly string[];
}

/**
 * `kubectl` and what it calls itself (edit, patch, label, annotate, set, client-side-apply …). The autoscalers: the
 * HorizontalPodAutoscaler's controller, KEDA, and the proportional ones.
 */
export const FIELD_MANAGERS: FieldManagers = {
  interactive: ['kubectl', 'kubectl-*'],
  autoscalers: ['kube-controller-manager', 'keda*', '*-proportional-autoscaler', 'horizontal-pod-autoscaler'],
};

/** The name under which an API server lists what was there before anybody's fields were recorded: nobody in person. */
const UNRECORDED = 'before-first-apply';

/** What a judgement about holders is based on. */
export interface HolderEvidence {
  /** Our own: what is recorded as updated under this name is nobody else's. */
  readonly fieldManager: string;
  readonly managers: FieldManagers;
  /** The time of our last apply; undefined when there was none. */
  readonly appliedAt: string | undefined;
  /** The same desired state was applied before, so that every field of it was ours. */
  readonly wasApplied: boolean;
  /** The object is being taken over, with whatever people wrote into it. */
  readonly adopting: boolean;
}

/** How a field is held by others. The strongest claim of several holders counts. */
export function holdingOf(
  leaf: Pick<Leaf, 'path'>,
  others: readonly [ManagedFieldsEntry, ...ManagedFieldsEntry[]],
  evidence: HolderEvidence,
): Holding {
  const claims = new Set(others.map((entry) => claimOf(entry, isReplicas(leaf), evidence)));
  return STRONGEST.find((claim) => claims.has(claim)) ?? 'controller';
}

const STRONGEST: readonly Holding[] = ['autoscaler', 'scale', 'applier', 'controller', 'person', 'drift'];

function claimOf(entry: ManagedFieldsEntry, replicas: boolean, evidence: HolderEvidence): Holding {
  const { manager = '', operation, subresource } = entry;
  if (replicas && matchesAny(manager, evidence.managers.autoscalers)) return 'autoscaler';
  if (subresource === 'scale') return 'scale';
  if (operation === 'Apply') return 'applier';
  return manager === evidence.fieldManager ? 'drift' : claimOfUpdate(manager, entry, evidence);
}

function claimOfUpdate(manager: string, entry: ManagedFieldsEntry, evidence: HolderEvidence): Holding {
  const { subresource = '' } = entry;
  if (subresource !== '' || !isPerson(manager, evidence.managers)) return 'controller';
  return canHaveTaken(entry, evidence) ? 'drift' : 'person';
}

function isPerson(manager: string, { interactive }: FieldManagers): boolean {
  return manager === UNRECORDED || matchesAny(manager, interactive);
}

/**
 * When the same desired state was applied before, the field was ours. When the desired state is new, it can have been
 * ours only if the person wrote after our last apply; else our last apply lived beside that field.
 */
function canHaveTaken(entry: ManagedFieldsEntry, { wasApplied, appliedAt, adopting }: HolderEvidence): boolean {
  const { manager, time = '' } = entry;
  if (adopting || manager === UNRECORDED) return adopting || wasApplied;
  return appliedAt !== undefined && (wasApplied || time >= appliedAt);
}

function isReplicas({ path }: Pick<Leaf, 'path'>): boolean {
  const last = path.at(-1);
  return last !== undefined && 'field' in last && last.field === 'replicas';
}

function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (pattern.startsWith('*')) return name.endsWith(pattern.slice(1));
    return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  });
}
