import { federatedRedisClusterKind, gitSourceKind, memberClusterKind } from '../../src/api/index.ts';
import type { FederatedObject, GitSource, MemberCluster, PlacementRow, PublishedKind } from '../../src/api/index.ts';
import type { EventHandler, Lister } from '../../src/informers/index.ts';
import { objectKey } from '../../src/kernel/index.ts';
import type { KubernetesObject, ObjectMeta } from '../../src/kernel/index.ts';

/** What differs from an ordinary object: parts of `metadata`, fields of `spec`, the whole `status`. */
export interface Differences {
  readonly metadata?: ObjectMeta;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** FederatedRedisCluster shop/sessions, generation 1, placed nowhere, as the hub would serve it (with its defaults). */
export function federatedObject({ metadata = {}, spec = {}, status }: Differences = {}): FederatedObject {
  return build(federatedRedisClusterKind, {
    metadata: { name: 'sessions', namespace: 'shop', uid: 'uid-of-sessions', generation: 1, ...metadata },
    spec: { template: { spec: { replicas: 3, version: '8.2' } }, placement: {}, ...spec },
    ...(status !== undefined && { status }),
  }) as FederatedObject;
}

/** A MemberCluster with labels; Ready when it is said to be. */
export function memberCluster(
  name: string,
  labels: Readonly<Record<string, string>> = {},
  { metadata = {}, spec = {}, status }: Differences = {},
): MemberCluster {
  return build(memberClusterKind, {
    metadata: { name, labels, uid: `uid-of-${name}`, generation: 1, ...metadata },
    spec: { connection: { kubeconfigSecretRef: { name: `member-${name}` } }, ...spec },
    ...(status !== undefined && { status }),
  }) as MemberCluster;
}

/** GitSource shop/apps on branch main, as the hub would serve it. */
export function gitSource({ metadata = {}, spec = {}, status }: Differences = {}): GitSource {
  return build(gitSourceKind, {
    metadata: { name: 'apps', namespace: 'shop', uid: 'uid-of-apps', generation: 1, ...metadata },
    spec: { url: 'https://git.example/shop/apps.git', ...spec },
    ...(status !== undefined && { status }),
  }) as GitSource;
}

/** A row of a federated object's status: Synced and Running at revision `r1`. */
export function placementRow(cluster: string, differences: Partial<PlacementRow> = {}): PlacementRow {
  return {
    cluster,
    targetRevision: 'r1',
    state: 'Synced',
    reason: 'Synced',
    message: '',
    phase: 'Running',
    ...differences,
  };
}

/** `status` of a member that is ready, or is not for a reason. */
export function memberStatus(
  ready: boolean,
  reason = ready ? 'Ready' : 'Unreachable',
): Readonly<Record<string, unknown>> {
  const status = ready ? 'True' : 'False';
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  return { conditions: [{ type: 'Ready', status, reason, message: '', observedGeneration: 1, lastTransitionTime }] };
}

/** An informer's memory by hand. */
export function listerOf(...objects: readonly KubernetesObject[]): Lister {
  const byKey = new Map(objects.map((object) => [objectKey(object), object]));
  return {
    get: (key) => byKey.get(key),
    list: () => [...byKey.values()],
    byIndex: () => [],
  };
}

/** What a handler makes of one event. */
export type Event = (handler: EventHandler) => void;

export const added =
  (object: KubernetesObject, isInInitialList = false): Event =>
  (handler) =>
    handler.onAdd?.(object, isInInitialList);

export const updated =
  (previous: KubernetesObject, current: KubernetesObject): Event =>
  (handler) =>
    handler.onUpdate?.(previous, current);

export const deleted =
  (last: KubernetesObject): Event =>
  (handler) =>
    handler.onDelete?.(last, false);

/** The spec gets the defaults of its schema, as from an API server. */
function build(
  { gvk, schema }: PublishedKind,
  object: { readonly metadata: ObjectMeta; readonly spec: unknown; readonly status?: unknown },
): KubernetesObject {
  const spec = schema.shape['spec'] as { parse(value: unknown): unknown };
  return { apiVersion: `${gvk.group}/${gvk.version}`, kind: gvk.kind, ...object, spec: spec.parse(object.spec) };
}
