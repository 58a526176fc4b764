import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import { appliedHash, APPLIED_HASH_ANNOTATION } from './desired-object.ts';
import type { WantedObject } from './desired-object.ts';
import type { HolderEvidence } from './field-holders.ts';
import { formatPath, isRecord, valueAt, withValue, withoutPath } from './field-path.ts';
import type { FieldPath } from './field-path.ts';
import type { FittingRule } from './ignore-rules.ts';
import { isHashAnnotation, judge } from './leaf-verdict.ts';
import type { DecisionInput, LeafContext, LeftField, TakenField, Verdict } from './leaf-verdict.ts';
import { applyEntry, leavesOf, ownsNothingBeyond } from './managed-fields.ts';
import type { Leaf } from './managed-fields.ts';
import { isSameValue } from './same-value.ts';

interface Findings {
  readonly left: readonly LeftField[];
  /** Fields that are ours and whose value an admission plug-in made another. */
  readonly rewritten: readonly TakenField[];
}

/** What to do about an object that exists. */
export type Decision =
  | ({ readonly action: 'none' } & Findings)
  | ({
      readonly action: 'apply';
      readonly body: KubernetesObject;
      /** Take what is in `taken`; only sound for exactly this live object. */
      readonly force: boolean;
      readonly taken: readonly TakenField[];
    } & Findings)
  | ({ readonly action: 'blocked'; readonly held: readonly LeftField[] } & Findings);

interface Judged {
  readonly leaf: Leaf;
  readonly verdict: Verdict;
}

/**
 * Decides about one object, from the object alone: whether an apply is due, with which body, and what is left to whom.
 *
 * An apply is due when the desired state is another one than was applied last, or when a field that we want is neither
 * ours nor somebody's to whom it is left.
 */
export function decideApply(input: DecisionInput): Decision {
  const { wanted, live, fieldManager } = input;
  const ours = applyEntry(live, fieldManager);
  const same = isSameState(input, ours);
  const judged = judgeLeaves(input, ours, same);
  const left = judged.flatMap(({ verdict }) => (verdict.kind === 'left' ? [verdict.field] : []));
  const taken = judged.flatMap(({ verdict }) => (verdict.kind === 'taken' ? [verdict.field] : []));
  const rewritten = taken.filter(({ why }) => why === 'rewritten');
  const held = [...judged.flatMap(({ verdict }) => heldFast(verdict)), ...unreachableRules(input, ours)];
  if (held.length > 0) return { action: 'blocked', held, left, rewritten };
  const due = taken.filter((field) => !input.isUsual(field));
  const current = ours?.apiVersion === wanted.body.apiVersion && !input.adopting;
  if (same && current && due.length === 0) return { action: 'none', left, rewritten };
  const force = taken.some(({ why }) => why === 'drift' || why === 'forced');
  return { action: 'apply', body: bodyOf(input, judged, ours), force, taken: due, left, rewritten };
}

/**
 * Whether the live object is what the last apply of this very desired state left. The hash on it says so. Where an
 * admission plug-in takes the annotation away (it is recorded as ours and not there), the values of what we own must do.
 */
function isSameState({ wanted, live }: DecisionInput, ours: ManagedFieldsEntry | undefined): boolean {
  const hash = appliedHash(live);
  if (hash !== undefined || ours?.fieldsV1 === undefined) return hash === wanted.hash;
  const annotation = valueAt(ours.fieldsV1, [
    { field: 'f:metadata' },
    { field: 'f:annotations' },
    { field: `f:${APPLIED_HASH_ANNOTATION}` },
  ]);
  if (annotation === undefined || !ownsNothingBeyond(ours.fieldsV1, wanted.body)) return false;
  const leaves = leavesOf(wanted.body, [ours]).filter(({ path }) => !isHashAnnotation(path));
  return leaves.every((leaf) => leaf.holders.length > 0 && isSameValue(leaf.value, valueAt(live, leaf.path)));
}

function judgeLeaves(input: DecisionInput, ours: ManagedFieldsEntry | undefined, same: boolean): Judged[] {
  const { wanted, live, fieldManager, managers, adopting } = input;
  const wasApplied = appliedHash(live) === wanted.hash;
  const evidence: HolderEvidence = { fieldManager, managers, appliedAt: ours?.time, wasApplied, adopting };
  const context: LeafContext = { input, ours, evidence, same, unrecorded: isWiped(input) };
  return leavesOf(wanted.body, live.metadata.managedFields ?? []).map((leaf) => ({
    leaf,
    verdict: judge(leaf, context),
  }));
}

/** Somebody cleared `managedFields` of an object that we applied: nothing is anybody's. */
function isWiped({ live }: DecisionInput): boolean {
  return (live.metadata.managedFields ?? []).length === 0 && appliedHash(live) !== undefined;
}

/** A list that is owned as a whole cannot be had in part. */
function heldFast(verdict: Verdict): readonly LeftField[] {
  return verdict.kind === 'left' && verdict.blocks ? [verdict.field] : [];
}

/** A field inside of a list that we own as a whole cannot be left out: the list would lose it. */
function unreachableRules({ wanted }: DecisionInput, ours: ManagedFieldsEntry | undefined): readonly LeftField[] {
  return wanted.rules
    .filter(({ mode }) => mode === 'Strip')
    .filter(({ path }) =>
      path.some((element, depth) => !('field' in element) && isOwnedWhole(ours, path.slice(0, depth))),
    )
    .map(({ path }) => ({ path: formatPath(path), manager: '', why: 'rule' }));
}

function isOwnedWhole(ours: ManagedFieldsEntry | undefined, list: FieldPath): boolean {
  const names = list.map((element) => ('field' in element ? `f:${element.field}` : undefined));
  if (names.includes(undefined)) return false;
  const node = valueAt(
    ours?.fieldsV1,
    names.map((field = '') => ({ field })),
  );
  return isRecord(node) && Object.keys(node).length === 0;
}

/** What is sent: the wanted object without what is left, and under a rule of mode Adopt with what is there. */
function bodyOf(
  { wanted, live }: DecisionInput,
  judged: readonly Judged[],
  ours: ManagedFieldsEntry | undefined,
): KubernetesObject {
  const dropped = judged.filter(({ leaf, verdict }) => isDropped(leaf, verdict, ours));
  const stripped = dropped.reduce((body, { leaf }) => withoutPath(body, leaf.path), wanted.body);
  const isOurs = (path: FieldPath): boolean =>
    judged.some(
      ({ leaf }) => ours !== undefined && leaf.holders.includes(ours) && formatPath(leaf.path) === formatPath(path),
    );
  return wanted.rules.reduce((body, rule) => underRule(body, rule, live, isOurs), stripped);
}

/** What is ours stays ours, also where its value is left as it is: given up, it would be removed. */
function isDropped(leaf: Leaf, verdict: Verdict, ours: ManagedFieldsEntry | undefined): boolean {
  const isOurs = ours !== undefined && leaf.holders.includes(ours);
  return verdict.kind === 'left' && verdict.field.why !== 'rule' && !isOurs;
}

/** A 0 that is not ours may be said by an autoscaler that is broken: it must not become what we want. */
function underRule(
  body: KubernetesObject,
  { mode, path }: FittingRule,
  live: KubernetesObject,
  isOurs: (path: FieldPath) => boolean,
): KubernetesObject {
  const current = valueAt(live, path);
  if (mode === 'Strip' || (current === 0 && !isOurs(path))) return withoutPath(body, path);
  return current === undefined ? body : withValue(body, path, current);
}

/** What is sent when the object is created: all of it but what is never sent. */
export function bodyToCreate({ body, rules }: WantedObject): KubernetesObject {
  return rules.filter(({ mode }) => mode === 'Strip').reduce((object, { path }) => withoutPath(object, path), body);
}
