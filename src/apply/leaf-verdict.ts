import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import type { FieldConflict } from '../kubernetes/index.ts';
import { APPLIED_HASH_ANNOTATION } from './desired-object.ts';
import type { WantedObject } from './desired-object.ts';
import { holdingOf } from './field-holders.ts';
import type { FieldManagers, HolderEvidence, Holding } from './field-holders.ts';
import { formatPath, isRecord, valueAt } from './field-path.ts';
import type { FieldPath } from './field-path.ts';
import { ruleFor } from './ignore-rules.ts';
import type { Leaf } from './managed-fields.ts';
import { isSameValue } from './same-value.ts';

/** Why a field is not what we want, and is left so. */
export type LeftFor = Exclude<Holding, 'drift'> | 'rule' | 'flipping';

/** A field that is left to somebody else. */
export interface LeftField {
  /** `.spec.template.spec.containers[name="app"].image` */
  readonly path: string;
  /** The field manager that holds it; empty when nobody is recorded. */
  readonly manager: string;
  readonly subresource?: string;
  readonly why: LeftFor;
}

/** What a decision is made from. Nothing else is looked at. */
export interface DecisionInput {
  readonly wanted: WantedObject;
  readonly live: KubernetesObject;
  readonly fieldManager: string;
  readonly managers: FieldManagers;
  /** Take every field from whoever holds it, but an autoscaler. */
  readonly force: boolean;
  /** The object is being taken over. */
  readonly adopting: boolean;
  /** Conflicts that a server told of and that cannot be read from the object. */
  readonly conflicts: readonly FieldConflict[];
  /** Whether taking a field back has shown to be of no use while it has this value. */
  readonly isFlipping: (path: string, live: unknown) => boolean;
  /** Whether a field is known to come out like this whenever it is applied. */
  readonly isUsual: (field: TakenField) => boolean;
}

/** A field that an apply gives its value back. */
export interface TakenField {
  readonly path: string;
  readonly live: unknown;
  /** The manager that held it; empty when nobody did. */
  readonly manager: string;
  /** `drift`: a person took it; `removed`: nobody holds it; `rewritten`: it is ours, with another value; `forced` */
  readonly why: 'drift' | 'removed' | 'rewritten' | 'forced';
}

/** What is found about one leaf of the wanted object. */
export type Verdict =
  | { readonly kind: 'ours' | 'nothing' }
  | { readonly kind: 'taken'; readonly field: TakenField }
  | { readonly kind: 'left'; readonly field: LeftField; readonly blocks: boolean };

/** What a leaf is judged by. */
export interface LeafContext {
  readonly input: DecisionInput;
  readonly ours: ManagedFieldsEntry | undefined;
  readonly evidence: HolderEvidence;
  readonly same: boolean;
  readonly unrecorded: boolean;
}

/** Judges one leaf: under a rule? → ours? → nothing to own? → held by nobody? → held by others. */
export function judge(leaf: Leaf, context: LeafContext): Verdict {
  const { input, ours } = context;
  const live = valueAt(input.live, leaf.path);
  const rule = ruleFor(leaf.path, input.wanted.rules);
  const others = othersOf(leaf, live, context);
  if (rule !== undefined) return judgeRuled(leaf, others);
  if (ours !== undefined && leaf.holders.includes(ours)) return judgeOurs(leaf, live, context);
  if (!isHeld(others))
    return isNothing(leaf.value) && isNothing(live) ? { kind: 'nothing' } : judgeUnheld(leaf, live, context);
  return judgeHeld(leaf, live, context, others);
}

/** Everybody else who owns a leaf, and whom a server named. An empty map that others own does not keep anybody out. */
function othersOf(leaf: Leaf, live: unknown, { input, ours }: LeafContext): readonly ManagedFieldsEntry[] {
  const path = formatPath(leaf.path);
  const told = input.conflicts
    .filter(
      (conflict) =>
        path === conflict.path || path.startsWith(`${conflict.path}.`) || path.startsWith(`${conflict.path}[`),
    )
    .flatMap((conflict) => entriesOf(conflict, input.live));
  if (isRecord(leaf.value) && isNothing(live)) return told;
  return [...new Set([...leaf.holders.filter((entry) => entry !== ours), ...told])];
}

/** The entries that a conflict is about; when the object has none, what the conflict tells of it. */
function entriesOf(conflict: FieldConflict, live: KubernetesObject): readonly ManagedFieldsEntry[] {
  const { manager, operation = 'Update', subresource = '' } = conflict;
  const entries = (live.metadata.managedFields ?? []).filter(
    (entry) => entry.manager === manager && entry.operation === operation && (entry.subresource ?? '') === subresource,
  );
  return entries.length > 0 ? entries : [{ manager, operation, subresource }];
}

function isNothing(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

type Others = readonly [ManagedFieldsEntry, ...ManagedFieldsEntry[]];

function isHeld(others: readonly ManagedFieldsEntry[]): others is Others {
  return others.length > 0;
}

/** By agreement somebody else's: told when there is somebody. */
function judgeRuled(leaf: Leaf, others: readonly ManagedFieldsEntry[]): Verdict {
  const [holder] = others;
  if (holder === undefined || leaf.isKey) return { kind: 'nothing' };
  return { kind: 'left', field: leftField(leaf, holder, 'rule'), blocks: false };
}

/** What is ours has the value that we gave it, unless admission changed it while somebody else wrote, or while we did. */
function judgeOurs(leaf: Leaf, live: unknown, { input, same }: LeafContext): Verdict {
  if (!same || isHashAnnotation(leaf.path) || isSameValue(leaf.value, live)) return { kind: 'ours' };
  const path = formatPath(leaf.path);
  if (input.isFlipping(path, live))
    return { kind: 'left', field: { path, manager: '', why: 'flipping' }, blocks: false };
  return { kind: 'taken', field: { path, live, manager: '', why: 'rewritten' } };
}

function judgeUnheld(leaf: Leaf, live: unknown, context: LeafContext): Verdict {
  const { input, same, unrecorded } = context;
  const path = formatPath(leaf.path);
  if (!input.force && isScaled(path, live, context)) {
    return { kind: 'left', field: { path, manager: '', why: 'scale' }, blocks: false };
  }
  if (unrecorded) return { kind: 'taken', field: { path, live, manager: '', why: 'drift' } };
  if (!same) return { kind: 'ours' };
  if (input.isFlipping(path, live))
    return { kind: 'left', field: { path, manager: '', why: 'flipping' }, blocks: false };
  return { kind: 'taken', field: { path, live, manager: '', why: 'removed' } };
}

/**
 * An API server forgets who scales an object through `scale` when that goes to 0, and does not record it again afterwards.
 * So replicas that we had and that are nobody's now were scaled; and so were any that are nobody's and not the default.
 */
function isScaled(path: string, live: unknown, { ours, same, unrecorded }: LeafContext): boolean {
  if (path !== '.spec.replicas' || live === undefined || ours === undefined || unrecorded) return false;
  return same || live !== DEFAULT_REPLICAS;
}

const DEFAULT_REPLICAS = 1;

function judgeHeld(leaf: Leaf, live: unknown, { input, evidence, same }: LeafContext, others: Others): Verdict {
  const holding = holdingOf(leaf, others, evidence);
  const [holder] = others;
  if (holding === 'drift') return take(leaf, live, input, { holder, why: 'drift' });
  if (input.force && holding !== 'autoscaler') return take(leaf, live, input, { holder, why: 'forced' });
  // With an apply due, an equal value is shared, as server-side apply has it; none is due only for sharing.
  if (leaf.isKey || isShareable(holding, leaf.value, live)) return same ? { kind: 'nothing' } : { kind: 'ours' };
  return { kind: 'left', field: leftField(leaf, holder, holding), blocks: Array.isArray(leaf.value) };
}

function take(
  leaf: Leaf,
  live: unknown,
  input: DecisionInput,
  { holder, why }: { readonly holder: ManagedFieldsEntry; readonly why: TakenField['why'] },
): Verdict {
  const path = formatPath(leaf.path);
  if (!leaf.isKey && input.isFlipping(path, live)) {
    return { kind: 'left', field: leftField(leaf, holder, 'flipping'), blocks: false };
  }
  return { kind: 'taken', field: { path, live, manager: holder.manager ?? '', why } };
}

/** What scales an object may come to our number and leave it again: that is not worth a write each time. */
function isShareable(holding: Holding, wanted: unknown, live: unknown): boolean {
  return holding !== 'autoscaler' && holding !== 'scale' && isSameValue(wanted, live);
}

function leftField({ path }: Leaf, { manager = '', subresource = '' }: ManagedFieldsEntry, why: LeftFor): LeftField {
  return { path: formatPath(path), manager, ...(subresource === '' ? {} : { subresource }), why };
}

/** Whether a field is the annotation that says which desired state an object has. */
export function isHashAnnotation(path: FieldPath): boolean {
  const last = path.at(-1);
  return last !== undefined && 'field' in last && last.field === APPLIED_HASH_ANNOTATION;
}
