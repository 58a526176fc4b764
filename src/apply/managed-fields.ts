import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import { canonicalJson } from './canonical-json.ts';

/** A node of `fieldsV1`: `f:` fields, `k:` list items by key, `v:` set items, `i:` items by index, `.` the node itself. */
type FieldNode = Readonly<Record<string, unknown>>;

/** A value without parts that can be owned separately, as far as an entry of `managedFields` tells. */
export interface Leaf {
  /** In structured-merge-diff's notation: `.spec.containers[name="app"].image`. */
  readonly path: string;
  readonly owned: boolean;
}

/** What every object has and no manager owns. */
const IDENTITY = ['apiVersion', 'kind'];
const METADATA_IDENTITY = ['name', 'namespace'];

/** The entry of a manager's applies to the object itself; there is at most one. */
export function applyEntry(object: KubernetesObject, manager: string): ManagedFieldsEntry | undefined {
  return object.metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && !entry.subresource,
  );
}

/**
 * The leaves of a wanted object, each with whether an entry owns it. Values are not compared: a manager that changes a
 * field takes it away from its former owner, so that owning a field means that it still has the value we gave it.
 */
export function leavesOf(desired: KubernetesObject, entry: ManagedFieldsEntry | undefined): Leaf[] {
  const fields = entry?.fieldsV1;
  const { metadata, ...rest } = desired;
  const metadataNode = fields === undefined ? undefined : childNode(fields, 'f:metadata');
  return [
    ...fieldLeaves(without(metadata, METADATA_IDENTITY), metadataNode, '.metadata'),
    ...fieldLeaves(without(rest, IDENTITY), fields, ''),
  ];
}

function leaves(value: unknown, node: FieldNode | undefined, path: string): Leaf[] {
  if (node !== undefined && Object.keys(node).length === 0) return [{ path, owned: true }];
  if (Array.isArray(value)) return value.flatMap((item) => itemLeaves(item, node, path));
  if (isRecord(value) && Object.keys(value).length > 0) return fieldLeaves(value, node, path);
  return [{ path, owned: node !== undefined }];
}

function fieldLeaves(value: FieldNode, node: FieldNode | undefined, path: string): Leaf[] {
  return Object.entries(value).flatMap(([name, field]) =>
    leaves(field, node === undefined ? undefined : childNode(node, `f:${name}`), `${path}.${name}`),
  );
}

/** An item is owned through whichever of the matching nodes owns all of it; an empty list has nothing to own. */
function itemLeaves(item: unknown, node: FieldNode | undefined, path: string): Leaf[] {
  const candidates = Object.keys(node ?? {})
    .filter((element) => elementNames(element, item))
    .map((element) => leaves(item, childNode(node ?? {}, element), `${path}[${element.slice(2)}]`));
  return (
    candidates.find((candidate) => candidate.every((leaf) => leaf.owned)) ??
    candidates[0] ??
    leaves(item, undefined, `${path}[${isRecord(item) ? '' : canonicalJson(item)}]`)
  );
}

/** Whether a path element (`k:{"name":"app"}`, `v:"x"`) names this item. A key that the item leaves out is defaulted. */
function elementNames(element: string, item: unknown): boolean {
  if (element.startsWith('v:')) return element.slice(2) === canonicalJson(item);
  if (!element.startsWith('k:') || !isRecord(item)) return false;
  const keys = Object.entries(JSON.parse(element.slice(2)) as Record<string, unknown>);
  const given = keys.filter(([name]) => item[name] !== undefined);
  return given.length > 0 && given.every(([name, value]) => canonicalJson(item[name]) === canonicalJson(value));
}

function childNode(node: FieldNode, element: string): FieldNode | undefined {
  const child = node[element];
  return isRecord(child) ? child : undefined;
}

function isRecord(value: unknown): value is FieldNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function without(value: FieldNode, names: readonly string[]): FieldNode {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}
