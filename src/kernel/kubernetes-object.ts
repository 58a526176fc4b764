/** Any JSON value as an API server sends it. Integers beyond 2^53 arrive as bigint, so that they survive a round trip. */
export type Json = string | number | bigint | boolean | null | Json[] | { [field: string]: Json };

/** `apiVersion` and `kind` of an object ({@link https://kubernetes.io/docs/reference/using-api/api-concepts/}). */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** An entry of `metadata.ownerReferences`. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** An entry of `metadata.managedFields`; `fieldsV1` is kept as it came. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: Record<string, unknown>;
}

/** `metadata` of an object; fields that Atoll does not read stay in place. */
export interface ObjectMeta {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
  readonly [field: string]: unknown;
}

/** Fields of `metadata` that only a server sets. They come along when somebody copies what `kubectl get` prints. */
export const SERVER_METADATA: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/** A Kubernetes object as plain JSON: never deserialized into classes, so that no field is lost. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** Splits `apiVersion` ("apps/v1", "v1") and `kind` into their parts; the core group is the empty string. */
export function gvkOf(object: { readonly apiVersion: string; readonly kind: string }): GroupVersionKind {
  const slash = object.apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: object.apiVersion, kind: object.kind }
    : { group: object.apiVersion.slice(0, slash), version: object.apiVersion.slice(slash + 1), kind: object.kind };
}

/** The `apiVersion` that names a group and version: "apps/v1", or "v1" for the core group. */
export function apiVersionOf(gvk: { readonly group: string; readonly version: string }): string {
  return gvk.group === '' ? gvk.version : `${gvk.group}/${gvk.version}`;
}

/** "Kind.version.group" ("StatefulSet.v1.apps", "Service.v1."), as an unambiguous map key. */
export function formatGvk(gvk: GroupVersionKind): string {
  return `${gvk.kind}.${gvk.version}.${gvk.group}`;
}

/** "RedisCluster.workloads.atoll.dev", "Secret.": a kind as keys and ownership marks name it, whatever its version. */
export function kindName({ kind, group }: GroupVersionKind): string {
  return `${kind}.${group}`;
}

/** "namespace/name", or "name" for a cluster-scoped object: client-go's MetaNamespaceKey. */
export function objectKey(object: KubernetesObject): string {
  const { namespace, name = '' } = object.metadata;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}
