import type { KubernetesObject } from '../kernel/index.ts';
import type { IndexValues } from './shared-informer.ts';

/** Index by `metadata.namespace`; cluster-scoped objects are not in it. client-go: MetaNamespaceIndexFunc. */
export function byNamespace({ metadata }: KubernetesObject): readonly string[] {
  return metadata.namespace === undefined ? [] : [metadata.namespace];
}

/** Index by the UIDs of all owners, the controller's and the others'. */
export function byOwnerUid({ metadata }: KubernetesObject): readonly string[] {
  return (metadata.ownerReferences ?? []).map(({ uid }) => uid);
}

/** Index by the value of one label. */
export function byLabel(name: string): IndexValues {
  return ({ metadata }) => {
    const value = metadata.labels?.[name];
    return value === undefined ? [] : [value];
  };
}
