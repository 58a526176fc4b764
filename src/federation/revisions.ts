import type { FederatedObject } from '../api/index.ts';
import { contentHash } from '../apply/index.ts';
import { controllerOf, withControllerReference } from '../controllers/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';

/** What a ControllerRevision of a federated object holds: all that decides what a member gets. */
export interface RevisionData {
  readonly template: FederatedObject['spec']['template'];
  readonly overrides: NonNullable<FederatedObject['spec']['overrides']>;
}

/** The kind that keeps revisions (Kubernetes' own, as StatefulSets and DaemonSets use it). */
export const CONTROLLER_REVISION = { group: 'apps', version: 'v1', kind: 'ControllerRevision' };

/** On every ControllerRevision of Atoll, so that one informer finds them and no others. */
const REVISION_LABEL = 'atoll.dev/federated-kind';

/** Which ControllerRevisions are watched. */
export const REVISION_SCOPE = { labelSelector: REVISION_LABEL };

/** What of an object's spec makes its revision. Placement and policy are not in it: they change without a new one. */
export function revisionData(object: FederatedObject): RevisionData {
  return { template: object.spec.template, overrides: object.spec.overrides ?? [] };
}

/** "sessions-6d5f0a21c4": the object's name and a hash of the canonical JSON of the data. */
export function revisionName(object: FederatedObject): string {
  return `${object.metadata.name ?? ''}-${contentHash(revisionData(object)).slice(0, 10)}`;
}

/** The ControllerRevision to create, owned by the object, so that the hub's garbage collector ends with it. */
export function newRevision(object: FederatedObject, number: number): KubernetesObject {
  const { namespace = '' } = object.metadata;
  const labels = { [REVISION_LABEL]: object.kind };
  const revision = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: revisionName(object), namespace, labels },
    data: revisionData(object),
    revision: number,
  };
  return withControllerReference(revision, object, { blockOwnerDeletion: false });
}

/** Whether a revision was made for an object of the same kind and name that is not there any more. */
export function isOfFormerObject(revision: KubernetesObject, object: FederatedObject): boolean {
  const owner = controllerOf(revision);
  const { name, uid } = object.metadata;
  return owner?.kind === object.kind && owner.name === name && owner.uid !== uid;
}

/** Reads the data of a ControllerRevision that {@link newRevision} made. */
export function dataOf(revision: KubernetesObject): RevisionData {
  return revision['data'] as RevisionData;
}

/** The number of a revision: larger is newer. */
export function numberOf(revision: KubernetesObject): number {
  return Number(revision['revision'] ?? 0);
}

/**
 * Which revisions can go: beyond `limit`, the oldest first, and never one that is in use.
 * @param inUse names of the revisions that a cluster has, is to get, or that the status calls current
 */
export function expiredRevisions(
  revisions: readonly KubernetesObject[],
  inUse: ReadonlySet<string>,
  limit: number,
): readonly KubernetesObject[] {
  const idle = revisions.filter((revision) => !inUse.has(revision.metadata.name ?? ''));
  const newestFirst = idle.toSorted((a, b) => numberOf(b) - numberOf(a));
  return newestFirst.slice(limit);
}
