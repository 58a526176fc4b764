import { gitSourceKind, memberClusterKind } from '../api/index.ts';
import type { FederatedKind, FederatedObject, MemberCluster } from '../api/index.ts';
import { markOf } from '../apply/index.ts';
import type { EventHandler, Lister } from '../informers/index.ts';
import { HUB, gvkOf, keyFor, kindName, objectKey } from '../kernel/index.ts';
import type { ClusterName, Key, KubernetesObject } from '../kernel/index.ts';
import { CORE } from '../kubernetes/index.ts';
import { CONTROLLER_REVISION } from './revisions.ts';

/** How a key is put into the queue of its shard. Events come before what merely is there already. */
export type Enqueue = (key: Key, priority: 'event' | 'resync') => void;

/** The field manager of what Atoll writes to the status of hub objects. */
export const STATUS_MANAGER = 'atoll-status';

/** Kind names as they stand in keys. */
export const MEMBER_CLUSTER = kindName(memberClusterKind.gvk);
export const GIT_SOURCE = kindName(gitSourceKind.gvk);
export const REVISION = kindName(CONTROLLER_REVISION);
export const SECRET = kindName(CORE.Secret);

/** What the triggers look things up in. */
export interface TriggerContext {
  readonly kinds: readonly FederatedKind[];
  /** Hub informers of the federated kinds, by {@link kindName}. */
  readonly objects: ReadonlyMap<string, Lister>;
  readonly members: Lister;
}

/** One line of the table: when an object of a kind changes so, look at these keys. */
export interface Trigger {
  /** {@link kindName} of what is watched; `target` stands for every federated kind's target in a member. */
  readonly watches: string;
  readonly when: (previous: KubernetesObject | undefined, current: KubernetesObject, deleted: boolean) => boolean;
  readonly enqueues: (object: KubernetesObject) => readonly Key[];
}

/**
 * When X changes on the hub, enqueue Y.
 *
 * | X | change | Y |
 * | --- | --- | --- |
 * | GitSource | spec, annotations, deletion | itself, on the hub |
 * | Federated<Kind> | spec, labels, annotations, deletion | itself, on the hub |
 * | Federated<Kind> | status, by another hand than ours | itself, on the hub: written again as it shall be |
 * | Federated<Kind> | any, status too | itself in every recorded cluster |
 * | Federated<Kind> from Git | spec, marks, deletion | its GitSource: taken back if it was not Git's doing |
 * | MemberCluster | spec, labels, annotations, deletion | itself, in its own shard |
 * | MemberCluster | labels, readiness, deletion | every federated object, on the hub |
 * | MemberCluster | labels | every federated object recorded for it, in its shard: overrides select by labels |
 * | ControllerRevision | deletion | the federated object that owns it, on the hub |
 * | Secret of Atoll's namespace | any | the MemberClusters that name it |
 */
export function hubTriggers(context: TriggerContext): readonly Trigger[] {
  return [
    { watches: GIT_SOURCE, when: specChanged, enqueues: (object) => [keyFor(HUB, GIT_SOURCE, object)] },
    ...context.kinds.flatMap(({ federated }) => federatedTriggers(kindName(federated.gvk))),
    { watches: MEMBER_CLUSTER, when: specChanged, enqueues: ({ metadata }) => [memberKey(metadata.name ?? '')] },
    { watches: MEMBER_CLUSTER, when: membershipChanged, enqueues: () => allFederated(context) },
    {
      watches: MEMBER_CLUSTER,
      when: labelsChanged,
      enqueues: ({ metadata }) => keysOfCluster(metadata.name ?? '', context),
    },
    { watches: REVISION, when: isDeletion, enqueues: (revision) => ownerOf(revision, context) },
    { watches: SECRET, when: always, enqueues: (secret) => membersUsing(secret, context) },
  ];
}

function federatedTriggers(kind: string): Trigger[] {
  return [
    {
      watches: kind,
      when: (previous, current) => specChanged(previous, current) || statusTaken(previous, current),
      enqueues: (object) => [keyFor(HUB, kind, object)],
    },
    {
      watches: kind,
      when: always,
      enqueues: (object) => recordedClusters(object).map((cluster) => keyFor(cluster, kind, object)),
    },
    { watches: kind, when: specChanged, enqueues: sourceOf },
  ];
}

/**
 * In a member: when an object of a target kind changes, look at the federated object of its name that is recorded for
 * the cluster. By name and not by mark, because also an object that is not ours, and in the way, may go.
 */
export function memberTriggers(cluster: ClusterName, context: TriggerContext): readonly Trigger[] {
  return context.kinds.map(({ federated, target }) => ({
    watches: kindName(target.gvk),
    when: always,
    enqueues: (object) => {
      const kind = kindName(federated.gvk);
      const federatedObject = context.objects.get(kind)?.get(objectKey(object));
      if (federatedObject === undefined || !recordedClusters(federatedObject).includes(cluster)) return [];
      return [keyFor(cluster, kind, object)];
    },
  }));
}

/** The informer handler that plays the lines of a table that watch one kind. */
export function handlerFor(kind: string, triggers: readonly Trigger[], enqueue: Enqueue): EventHandler {
  const own = triggers.filter(({ watches }) => watches === kind);
  const play = (
    previous: KubernetesObject | undefined,
    current: KubernetesObject,
    deleted: boolean,
    initial: boolean,
  ): void => {
    for (const trigger of own.filter(({ when }) => when(previous, current, deleted))) {
      for (const key of trigger.enqueues(current)) enqueue(key, initial ? 'resync' : 'event');
    }
  };
  return {
    onAdd: (object, isInInitialList) => play(undefined, object, false, isInInitialList),
    onUpdate: (previous, current) => play(previous, current, false, previous === current),
    onDelete: (last) => play(undefined, last, true, false),
  };
}

/** Every key of a federated object's recorded placement in one cluster, for when the cluster is engaged. */
export function keysOfCluster(cluster: ClusterName, context: TriggerContext): readonly Key[] {
  return federatedObjects(context)
    .filter(({ object }) => recordedClusters(object).includes(cluster))
    .map(({ kind, object }) => keyFor(cluster, kind, object));
}

/** Every federated object, on the hub. */
export function allFederated(context: TriggerContext): readonly Key[] {
  return federatedObjects(context).map(({ kind, object }) => keyFor(HUB, kind, object));
}

function federatedObjects(context: TriggerContext): { kind: string; object: KubernetesObject }[] {
  return [...context.objects].flatMap(([kind, lister]) => lister.list().map((object) => ({ kind, object })));
}

/** A MemberCluster is worked in its own shard. */
export function memberKey(name: ClusterName): Key {
  return { cluster: name, kind: MEMBER_CLUSTER, namespace: '', name };
}

/** A source is looked at when what it applied changes by another hand; its own applies find nothing to do. */
function sourceOf(object: KubernetesObject): readonly Key[] {
  const found = markOf(object);
  if (found?.valid !== true || found.mark.kind !== GIT_SOURCE) return [];
  return [{ cluster: HUB, kind: GIT_SOURCE, namespace: found.mark.namespace, name: found.mark.name }];
}

function recordedClusters(object: KubernetesObject): ClusterName[] {
  return ((object as FederatedObject).status?.placements ?? []).map(({ cluster }) => cluster);
}

function membersUsing(secret: KubernetesObject, context: TriggerContext): readonly Key[] {
  return (context.members.list() as readonly MemberCluster[])
    .filter(({ spec }) => spec.connection.kubeconfigSecretRef?.name === secret.metadata.name)
    .map(({ metadata }) => memberKey(metadata.name));
}

function ownerOf(revision: KubernetesObject, context: TriggerContext): readonly Key[] {
  const owner = revision.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return [];
  const kind = kindName(gvkOf(owner));
  if (!context.objects.has(kind)) return [];
  return [{ cluster: HUB, kind, namespace: revision.metadata.namespace ?? '', name: owner.name }];
}

function isDeletion(_previous: KubernetesObject | undefined, _current: KubernetesObject, deleted: boolean): boolean {
  return deleted;
}

function always(): boolean {
  return true;
}

/** Anything but the status and what servers keep for themselves. A resync (the same object again) counts. */
function specChanged(previous: KubernetesObject | undefined, current: KubernetesObject): boolean {
  if (previous === undefined || previous === current) return true;
  const before = previous.metadata;
  const after = current.metadata;
  return (
    before.generation !== after.generation ||
    before.uid !== after.uid ||
    before.deletionTimestamp !== after.deletionTimestamp ||
    before.finalizers?.length !== after.finalizers?.length ||
    differ(before.labels, after.labels) ||
    differ(before.annotations, after.annotations)
  );
}

/** Whether somebody else wrote to the status. Our own writes are no news: they are made from all that there is to know. */
function statusTaken(previous: KubernetesObject | undefined, current: KubernetesObject): boolean {
  return JSON.stringify(rivalEntries(previous)) !== JSON.stringify(rivalEntries(current));
}

function rivalEntries(object: KubernetesObject | undefined): readonly unknown[] {
  const entries = object?.metadata.managedFields ?? [];
  return entries.filter(({ manager, subresource }) => subresource === 'status' && manager !== STATUS_MANAGER);
}

function membershipChanged(
  previous: KubernetesObject | undefined,
  current: KubernetesObject,
  deleted: boolean,
): boolean {
  if (previous === undefined || deleted || previous === current) return true;
  return labelsChanged(previous, current) || readiness(previous) !== readiness(current);
}

function labelsChanged(previous: KubernetesObject | undefined, current: KubernetesObject): boolean {
  return previous !== undefined && differ(previous.metadata.labels, current.metadata.labels);
}

function readiness(object: KubernetesObject): string {
  const ready = (object as MemberCluster).status?.conditions?.find(({ type }) => type === 'Ready');
  return `${ready?.status} ${ready?.reason}`;
}

function differ(
  a: Readonly<Record<string, string>> | undefined,
  b: Readonly<Record<string, string>> | undefined,
): boolean {
  const before = Object.entries(a ?? {});
  return before.length !== Object.keys(b ?? {}).length || before.some(([key, value]) => b?.[key] !== value);
}
