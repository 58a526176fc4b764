import { gvkOf } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import type { JsonPatchOperation } from '../kubernetes/index.ts';
import { isRecord } from './field-path.ts';
import type { FieldPath } from './field-path.ts';
import { applyEntry } from './managed-fields.ts';

/**
 * The patch that empties the maps which an apply would empty, before it is sent; undefined when there are none.
 *
 * An API server makes null of a map whose last field its only owner gives up, even where the owner sends `{}` in its
 * place, and then refuses the null where a CustomResourceDefinition gives the schema. (Built-in kinds take a null for an
 * empty map.) A map that is empty already stays one.
 */
export function emptyingPatch(
  body: KubernetesObject,
  live: KubernetesObject,
  fieldManager: string,
): readonly JsonPatchOperation[] | undefined {
  const paths = emptiedMaps(body, live, fieldManager);
  if (paths.length === 0) return undefined;
  return [
    ...paths.map((path) => ({ op: 'replace' as const, path: pointerOf(path), value: {} })),
    { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
  ];
}

/** The maps that are wanted empty, and of which every field that is there is ours; none for built-in kinds. */
export function emptiedMaps(
  body: KubernetesObject,
  live: KubernetesObject,
  fieldManager: string,
): readonly FieldPath[] {
  const ours = applyEntry(live, fieldManager)?.fieldsV1;
  return isBuiltIn(body) || ours === undefined ? [] : emptiedPaths(body, live, ours, []);
}

/** RFC 6901 */
function pointerOf(path: FieldPath): string {
  return path
    .map((element) => ('field' in element ? `/${element.field.replaceAll('~', '~0').replaceAll('/', '~1')}` : ''))
    .join('');
}

/** Groups of built-in kinds have no dot, or end as Kubernetes' own. */
function isBuiltIn(object: KubernetesObject): boolean {
  const { group } = gvkOf(object);
  return !group.includes('.') || group.endsWith('.k8s.io');
}

function emptiedPaths(wanted: unknown, live: unknown, node: unknown, path: FieldPath): FieldPath[] {
  if (!isRecord(wanted) || !isRecord(live) || !isRecord(node)) return [];
  return Object.entries(wanted).flatMap(([name, value]) => {
    const [there, owned] = [live[name], node[`f:${name}`]];
    const here = [...path, { field: name }];
    if (isRecord(value) && Object.keys(value).length === 0) return isGivenUp(there, owned) ? [here] : [];
    return emptiedPaths(value, there, owned, here);
  });
}

function isGivenUp(live: unknown, node: unknown): boolean {
  if (!isRecord(live) || !isRecord(node)) return false;
  const names = Object.keys(live);
  return names.length > 0 && names.every((name) => `f:${name}` in node);
}
