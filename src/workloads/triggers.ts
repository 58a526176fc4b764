import { MANAGED_BY, MANAGED_BY_LABEL } from '../apply/index.ts';
import type { Scope } from '../informers/index.ts';
import { gvkOf, keyFor, kindName } from '../kernel/index.ts';
import type { ClusterName, GroupVersionKind, Key, KubernetesObject, OwnerReference } from '../kernel/index.ts';
import type { Workload } from './workload.ts';

/** "When an object of this kind changes, look at this key." */
export interface Trigger {
  readonly gvk: GroupVersionKind;
  readonly scope: Scope;
  /** The key to look at; undefined when the object belongs to nobody of the workload's kind. */
  readonly keyOf: (object: KubernetesObject) => Key | undefined;
}

/** Children are watched by the label that every one of them bears: a member's other objects stay out of memory. */
export const CHILD_SCOPE: Scope = { labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY}` };

/** What makes a workload's reconciler run in a cluster: its objects themselves, and their children. */
export function triggersOf(workload: Workload, cluster: ClusterName): readonly Trigger[] {
  const { gvk } = workload.kind;
  const kind = kindName(gvk);
  const self: Trigger = { gvk, scope: {}, keyOf: (object) => keyFor(cluster, kind, object) };
  const children = workload.children.map((child): Trigger => ({
    gvk: child,
    scope: CHILD_SCOPE,
    keyOf: (object) => {
      const owner = controllerOf(object);
      if (owner === undefined || kindName(gvkOf(owner)) !== kind) return undefined;
      return { cluster, kind, namespace: object.metadata.namespace ?? '', name: owner.name };
    },
  }));
  return [self, ...children];
}

/** The owner that controls an object; there is at most one. */
function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}
