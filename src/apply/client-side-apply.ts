import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import type { JsonPatchOperation } from '../kubernetes/index.ts';
import { isRecord, valueAt } from './field-path.ts';
import type { FieldNode } from './managed-fields.ts';

/** Where `kubectl apply` without `--server-side` keeps what it applied last. */
const LAST_APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

/** Managers that write whole manifests by Update. */
const WHOLE_WRITERS: readonly string[] = ['kubectl-client-side-apply', 'kubectl-create', 'before-first-apply'];

/** A path of names as `fieldsV1` has them. */
const LAST_APPLIED_FIELD = ['f:metadata', 'f:annotations', `f:${LAST_APPLIED_ANNOTATION}`];

/** The entries of an operation that own all of some fields, each a path of names as `fieldsV1` has them. */
export function fieldOwners(
  managedFields: readonly ManagedFieldsEntry[],
  operation: 'Apply' | 'Update',
  fields: readonly (readonly string[])[],
): readonly ManagedFieldsEntry[] {
  return managedFields.filter(
    (entry) => entry.operation === operation && fields.every((path) => nodeAt(entry.fieldsV1, path) !== undefined),
  );
}

function nodeAt(node: unknown, path: readonly string[]): unknown {
  return valueAt(
    node,
    path.map((field) => ({ field })),
  );
}

/** The managers whose whole manifests an object was made from: the known ones, and whoever wrote the annotation. */
function clientSideAppliers({ metadata }: KubernetesObject): ReadonlySet<string> {
  const writers = fieldOwners(metadata.managedFields ?? [], 'Update', [LAST_APPLIED_FIELD]);
  return new Set([...WHOLE_WRITERS, ...writers.map(({ manager = '' }) => manager)]);
}

/**
 * The patch that hands what client-side appliers own to an applier of server-side apply, so that a field later left out
 * really goes, and takes their annotation away. It is refused when the object has changed meanwhile.
 * @returns undefined when there is nothing to hand over
 */
export function migrationPatch(live: KubernetesObject, applier: string): readonly JsonPatchOperation[] | undefined {
  const { managedFields = [], annotations = {}, resourceVersion } = live.metadata;
  const migrated = migrateManagedFields(managedFields, clientSideAppliers(live), applier);
  if (migrated === managedFields) return undefined;
  const annotation = `/metadata/annotations/${LAST_APPLIED_ANNOTATION.replaceAll('/', '~1')}`;
  return [
    { op: 'replace', path: '/metadata/managedFields', value: migrated },
    ...(annotations[LAST_APPLIED_ANNOTATION] === undefined ? [] : [{ op: 'remove' as const, path: annotation }]),
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
  ];
}

/**
 * client-go's csaupgrade: what the client-side appliers own by Update becomes the applier's by Apply, as far as it was
 * written in the same version; their entries go. Writes through subresources are not touched.
 * @returns the very same list when there is nothing to do
 */
export function migrateManagedFields(
  managedFields: readonly ManagedFieldsEntry[],
  clientSide: ReadonlySet<string>,
  applier: string,
): readonly ManagedFieldsEntry[] {
  const isClientSide = (entry: ManagedFieldsEntry): boolean =>
    entry.operation === 'Update' && isOfObject(entry) && clientSide.has(entry.manager ?? '');
  const former = managedFields.filter(isClientSide);
  const [first] = former;
  if (first === undefined) return managedFields;
  const existing = managedFields.find(
    (entry) => entry.manager === applier && entry.operation === 'Apply' && isOfObject(entry),
  );
  const target = existing ?? first;
  const fields = former
    .filter(({ apiVersion }) => apiVersion === target.apiVersion)
    .reduce<FieldNode>((union, entry) => unionOf(union, rootOf(entry)), rootOf(target));
  const merged: ManagedFieldsEntry = {
    ...plain(target),
    manager: applier,
    operation: 'Apply',
    fieldsV1: { ...fields },
  };
  return managedFields
    .filter((entry) => entry === target || !isClientSide(entry))
    .map((entry) => (entry === target ? merged : plain(entry)));
}

function isOfObject({ subresource }: ManagedFieldsEntry): boolean {
  return subresource === undefined || subresource === '';
}

/** An entry as an API server writes it, whatever form it is kept in. */
function plain(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  return JSON.parse(JSON.stringify(entry)) as ManagedFieldsEntry;
}

/** A node without children owns itself; with children it says so by `.`. */
function unionOf(a: FieldNode, b: FieldNode): FieldNode {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  const self = isItself(a) || isItself(b);
  const united = Object.fromEntries(
    [...names].map((name) => [name, unionOf(childOf(a, name), childOf(b, name))] as const),
  );
  return self && names.size > 0 ? { ...united, '.': {} } : united;
}

function isItself(node: FieldNode): boolean {
  return node !== ABSENT && (Object.keys(node).length === 0 || '.' in node);
}

const ABSENT: FieldNode = {};

/** The root of an object is nobody's. */
function rootOf({ fieldsV1 }: ManagedFieldsEntry): FieldNode {
  return fieldsV1 === undefined || Object.keys(fieldsV1).length === 0 ? ABSENT : fieldsV1;
}

function childOf(node: FieldNode, name: string): FieldNode {
  const child = node[name];
  return isRecord(child) ? child : ABSENT;
}
