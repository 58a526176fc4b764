import type { KubernetesObject } from '../kernel/index.ts';

/** What happened to an object, as an informer saw it. */
export type ObjectEvent =
  | {
      readonly type: 'create';
      readonly object: KubernetesObject;
      /** The object was there before anybody watched. */
      readonly isInInitialList: boolean;
    }
  /** Also of an object that did not change: a resync tells it again. */
  | { readonly type: 'update'; readonly previous: KubernetesObject; readonly object: KubernetesObject }
  /** `object` is the last state that is known. */
  | { readonly type: 'delete'; readonly object: KubernetesObject };

/** Whether an update tells of no change: a resync, or a relist that found the same version. */
export function isResync(event: ObjectEvent): boolean {
  if (event.type !== 'update') return false;
  const { previous, object } = event;
  const { resourceVersion } = object.metadata;
  return (
    previous === object || (resourceVersion !== undefined && previous.metadata.resourceVersion === resourceVersion)
  );
}
