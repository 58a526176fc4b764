import { gitSourceKind, memberClusterKind } from '../api/index.ts';
import type { FederatedKind, FederatedObject, MemberCluster } from '../api/index.ts';
import { markOf } from '../apply/index.ts';
import {
  ControllerBuilder,
  and,
  annotationsChanged,
  deletions,
  generationChanged,
  labelsChanged,
  or,
  resyncs,
  updates,
  updatesWhere,
} from '../controllers/index.ts';
import type { Lister } from '../informers/index.ts';
import { HUB, keyFor, kindName, objectKey } from '../kernel/index.ts';
import type { ClusterName, Key, KubernetesObject } from '../kernel/index.ts';
import { CORE } from '../kubernetes/index.ts';
import { CONTROLLER_REVISION, REVISION_SCOPE } from './revisions.ts';

/** The field manager of what Atoll writes to the status of hub objects. */
export const STATUS_MANAGER = 'atoll-status';

/** Kind names as they stand in keys. */
export const MEMBER_CLUSTER = kindName(memberClusterKind.gvk);
const GIT_SOURCE = kindName(gitSourceKind.gvk);

/**
 * When X changes, enqueue Y: one controller after the other, each with what it watches. A resync counts as a change of
 * the spec.
 *
 * | X | change | Y | controller |
 * | --- | --- | --- | --- |
 * | GitSource | spec, labels, annotations, deletion | itself, on the hub | `gitSourceController` |
 * | Federated<Kind> from Git | spec, labels, annotations, deletion | its GitSource: taken back if it was not Git's doing | |
 * | Federated<Kind> | spec, labels, annotations, deletion | itself, on the hub | `federatedController` |
 * | Federated<Kind> | status, by another hand than ours | itself, on the hub: written again as it shall be | |
 * | ControllerRevision | deletion | the federated object that owns it, on the hub | |
 * | MemberCluster | labels, readiness, creation, deletion | every federated object, on the hub | |
 * | Federated<Kind> | any, status too | itself in every recorded cluster | `recordController` |
 * | MemberCluster | labels | what is recorded for it, in its shard: overrides select by labels | |
 * | the target of a Federated<Kind>, in a member | any | the Federated<Kind> of its name, if it is recorded there | `propagationController` |
 * | MemberCluster | spec, labels, annotations, deletion | itself, in its own shard | `memberClusterController` |
 * | Secret of Atoll's namespace | any | the MemberClusters that name it | |
 */
export interface TriggerContext {
  readonly kinds: readonly FederatedKind[];
  /** Hub informers of the federated kinds, by {@link kindName}. */
  readonly objects: ReadonlyMap<string, Lister>;
  readonly members: Lister;
  /** Atoll's own, the only one whose Secrets are watched. */
  readonly namespace: string;
}

/** Anything but the status and what servers keep for themselves. */
const specChanged = or(
  resyncs,
  generationChanged,
  labelsChanged,
  annotationsChanged,
  updatesWhere(({ metadata: before }, { metadata: after }) => before.deletionTimestamp !== after.deletionTimestamp),
  updatesWhere(({ metadata: before }, { metadata: after }) => before.finalizers?.length !== after.finalizers?.length),
);

/** Somebody else wrote to the status. Our own writes are no news: they are made from all that there is to know. */
const statusTaken = updatesWhere(
  (previous, current) => JSON.stringify(rivalEntries(previous)) !== JSON.stringify(rivalEntries(current)),
);

const membershipChanged = or(
  resyncs,
  labelsChanged,
  updatesWhere((previous, current) => readiness(previous) !== readiness(current)),
);

/** GitSources, on the hub. What a source applied leads to it; its own applies then find nothing to do. */
export function gitSourceController({ kinds }: TriggerContext): ControllerBuilder {
  return kinds.reduce(
    (controller, { federated }) => controller.watches(federated.gvk, sourceOf, { predicates: [specChanged] }),
    ControllerBuilder.for(gitSourceKind.gvk, { predicates: [specChanged] }),
  );
}

/** One kind of federated objects, on the hub. */
export function federatedController({ federated }: FederatedKind, { objects }: TriggerContext): ControllerBuilder {
  const kind = kindName(federated.gvk);
  const all = (): Key[] => (objects.get(kind)?.list() ?? []).map((object) => keyFor(HUB, kind, object));
  return ControllerBuilder.for(federated.gvk, { predicates: [or(specChanged, statusTaken)] })
    .owns(CONTROLLER_REVISION, { scope: REVISION_SCOPE, predicates: [deletions] })
    .watches(memberClusterKind.gvk, all, { predicates: [membershipChanged] });
}

/** One kind of federated objects in the members' shards, by what happens on the hub. */
export function recordController(kind: FederatedKind, context: TriggerContext): ControllerBuilder {
  const { gvk } = kind.federated;
  const name = kindName(gvk);
  return ControllerBuilder.of(name)
    .watches(gvk, (object) => recordedClusters(object).map((cluster) => keyFor(cluster, name, object)))
    .watches(memberClusterKind.gvk, ({ metadata }) => recordedKeys(kind, metadata.name ?? '', context), {
      predicates: [and(updates, labelsChanged)],
    });
}

/**
 * One kind of federated objects in a member's shard, by what happens in the member. By name and not by mark, because
 * also an object that is not ours, and in the way, may go.
 */
export function propagationController(
  { federated, target }: FederatedKind,
  cluster: ClusterName,
  { objects }: TriggerContext,
): ControllerBuilder {
  const kind = kindName(federated.gvk);
  return ControllerBuilder.of(kind).watches(target.gvk, (object) => {
    const federatedObject = objects.get(kind)?.get(objectKey(object));
    if (federatedObject === undefined || !recordedClusters(federatedObject).includes(cluster)) return [];
    return [keyFor(cluster, kind, object)];
  });
}

/** MemberClusters, each in its own shard. */
export function memberClusterController({ members, namespace }: TriggerContext): ControllerBuilder {
  return ControllerBuilder.of(MEMBER_CLUSTER)
    .watches(memberClusterKind.gvk, ({ metadata }) => [memberKey(metadata.name ?? '')], { predicates: [specChanged] })
    .watches(CORE.Secret, (secret) => membersUsing(secret, members), { scope: { namespace } });
}

/** Every key of what is recorded for a cluster, for when the cluster is engaged. */
export function keysOfCluster(cluster: ClusterName, context: TriggerContext): readonly Key[] {
  return context.kinds.flatMap((kind) => recordedKeys(kind, cluster, context));
}

/** A MemberCluster is worked in its own shard. */
export function memberKey(name: ClusterName): Key {
  return { cluster: name, kind: MEMBER_CLUSTER, namespace: '', name };
}

function recordedKeys({ federated }: FederatedKind, cluster: ClusterName, { objects }: TriggerContext): readonly Key[] {
  const kind = kindName(federated.gvk);
  return (objects.get(kind)?.list() ?? [])
    .filter((object) => recordedClusters(object).includes(cluster))
    .map((object) => keyFor(cluster, kind, object));
}

function recordedClusters(object: KubernetesObject): ClusterName[] {
  return ((object as FederatedObject).status?.placements ?? []).map(({ cluster }) => cluster);
}

function sourceOf(object: KubernetesObject): readonly Key[] {
  const found = markOf(object);
  if (found?.valid !== true || found.mark.kind !== GIT_SOURCE) return [];
  return [{ cluster: HUB, kind: GIT_SOURCE, namespace: found.mark.namespace, name: found.mark.name }];
}

function membersUsing(secret: KubernetesObject, members: Lister): readonly Key[] {
  return (members.list() as readonly MemberCluster[])
    .filter(({ spec }) => spec.connection.kubeconfigSecretRef?.name === secret.metadata.name)
    .map(({ metadata }) => memberKey(metadata.name));
}

function rivalEntries({ metadata }: KubernetesObject): readonly unknown[] {
  const entries = metadata.managedFields ?? [];
  return entries.filter(({ manager, subresource }) => subresource === 'status' && manager !== STATUS_MANAGER);
}

function readiness(object: KubernetesObject): string {
  const ready = (object as MemberCluster).status?.conditions?.find(({ type }) => type === 'Ready');
  return `${ready?.status} ${ready?.reason}`;
}
