import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import { canonicalJson } from './canonical-json.ts';
import { formatPath, hasKey, isRecord } from './field-path.ts';
import type { FieldPath, PathElement } from './field-path.ts';

/** A node of `fieldsV1`: `f:` fields, `k:` list items by key, `v:` set items, `.` the node itself beside its children. */
export type FieldNode = Readonly<Record<string, unknown>>;

/** A value without parts that can be owned separately, as far as the entries of `managedFields` tell. */
export interface Leaf {
  readonly path: FieldPath;
  readonly value: unknown;
  /** Everybody who owns it. */
  readonly holders: readonly ManagedFieldsEntry[];
  /** It tells its list item from the others, and cannot be left out. */
  readonly isKey: boolean;
}

/** What every object has and no manager owns. */
const IDENTITY: ReadonlySet<string> = new Set(['.apiVersion', '.kind', '.metadata.name', '.metadata.namespace']);

/** The entry of a manager's applies to the object itself; there is at most one. */
export function applyEntry(object: KubernetesObject, manager: string): ManagedFieldsEntry | undefined {
  return object.metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && !entry.subresource,
  );
}

type Nodes = readonly (readonly [ManagedFieldsEntry, FieldNode])[];

/**
 * The leaves of an object, each with who owns it. Values are not compared: a manager that changes a field takes it away
 * from its former owner, so that owning a field means that it still has the value one gave it.
 */
export function leavesOf(object: KubernetesObject, entries: readonly ManagedFieldsEntry[]): Leaf[] {
  const nodes = entries.flatMap((entry): Nodes => (entry.fieldsV1 === undefined ? [] : [[entry, entry.fieldsV1]]));
  return fieldLeaves(object, nodes, [], new Set());
}

function leaves(value: unknown, nodes: Nodes, path: FieldPath, isKey: boolean): Leaf[] {
  const whole: Leaf = { path, value, holders: nodes.map(([entry]) => entry), isKey };
  if (!hasParts(value)) return [whole];
  const inside = nodes.filter(([, node]) => Object.keys(node).some((element) => element !== '.'));
  // Owned without children by somebody, and with children by nobody: it is owned as a whole.
  if (inside.length === 0 && nodes.length > 0) return [whole];
  return Array.isArray(value)
    ? itemLeaves(value, inside, path)
    : fieldLeaves(value as FieldNode, inside, path, new Set());
}

function hasParts(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isRecord(value) && Object.keys(value).length > 0;
}

function fieldLeaves(value: FieldNode, nodes: Nodes, path: FieldPath, keys: ReadonlySet<string>): Leaf[] {
  return Object.entries(value).flatMap(([name, field]) => {
    const here = [...path, { field: name }];
    if (here.length <= 2 && IDENTITY.has(formatPath(here))) return [];
    return leaves(field, childrenOf(nodes, `f:${name}`), here, keys.has(name));
  });
}

function itemLeaves(items: readonly unknown[], nodes: Nodes, path: FieldPath): Leaf[] {
  const elements = [...new Set(nodes.flatMap(([, node]) => Object.keys(node)))].map((name) => elementOf(name));
  return items.flatMap((item, index) => {
    const found = elements.find((candidate) => names(candidate, item, items));
    if (found === undefined) return unownedItem(item, [...path, { index }]);
    const { element, name } = found;
    const here = [...path, element];
    const below = childrenOf(nodes, name);
    if (!isRecord(item)) return leaves(item, below, here, true);
    const inside = below.filter(([, node]) => Object.keys(node).length > 0);
    // An item that is atomic, as an ownerReference, is recorded without children: it is owned as a whole.
    if (below.length > 0 && inside.length === 0) return leaves(item, below, here, false);
    const keys = new Set('key' in element ? Object.keys(element.key) : []);
    return fieldLeaves(item, inside, here, keys);
  });
}

/** What nobody owns: an index is the only way to say which item is meant. */
function unownedItem(item: unknown, path: FieldPath): Leaf[] {
  return isRecord(item) && hasParts(item) ? fieldLeaves(item, [], path, new Set()) : leaves(item, [], path, false);
}

interface NamedElement {
  readonly name: string;
  readonly element: PathElement;
}

/** `k:{"name":"app"}`, `v:"x"`, `f:name`; anything else (`.`, `i:0`) names no item. */
function elementOf(name: string): NamedElement {
  if (name.startsWith('k:')) return { name, element: { key: JSON.parse(name.slice(2)) as Record<string, unknown> } };
  if (name.startsWith('v:')) return { name, element: { value: JSON.parse(name.slice(2)) as unknown } };
  return { name, element: { field: name.slice(2) } };
}

/** Whether an element means this item. A key that the item leaves out is defaulted, unless another item has it in full. */
function names({ element }: NamedElement, item: unknown, items: readonly unknown[]): boolean {
  if ('value' in element) return canonicalJson(element.value) === canonicalJson(item);
  if (!('key' in element)) return false;
  if (hasKey(item, element.key, 'all')) return true;
  return hasKey(item, element.key, 'given') && !items.some((other) => hasKey(other, element.key, 'all'));
}

function childrenOf(nodes: Nodes, element: string): Nodes {
  return nodes.flatMap(([entry, node]): Nodes => {
    const child = node[element];
    return isRecord(child) ? [[entry, child]] : [];
  });
}

/**
 * The live values of what a node owns, for comparing and hashing: maps by field, lists by element, whatever their order.
 */
export function projectionOf(value: unknown, node: FieldNode): unknown {
  const elements = Object.keys(node).filter((name) => name !== '.');
  if (elements.length === 0) return value;
  return Object.fromEntries(
    elements.map((name) => [name, projectionOf(childBy(value, name), node[name] as FieldNode)]),
  );
}

function childBy(value: unknown, name: string): unknown {
  if (name.startsWith('f:')) return isRecord(value) ? value[name.slice(2)] : undefined;
  if (!Array.isArray(value)) return undefined;
  const named = elementOf(name);
  return value.find((item) => names(named, item, value));
}

/** Whether everything that a node owns is in a value: nothing would be given up by applying the value. */
export function ownsNothingBeyond(node: FieldNode, value: unknown): boolean {
  return Object.entries(node).every(([name, inner]) => {
    if (name === '.') return true;
    const child = childBy(value, name);
    return child !== undefined && ownsNothingBeyond(inner as FieldNode, child);
  });
}
