import { gvkOf } from '../kernel/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../kernel/index.ts';

/** Names one object of one kind. */
export interface ObjectReference {
  readonly gvk: GroupVersionKind;
  readonly namespace?: string;
  readonly name: string;
}

/** The reference to an object of a kind; an empty namespace is none. */
export function referenceTo(gvk: GroupVersionKind, namespace: string | undefined, name: string): ObjectReference {
  return { gvk, name, ...(namespace === undefined || namespace === '' ? {} : { namespace }) };
}

/** How an API server addresses an object that was read, or is to be written. */
export function referenceOf(object: KubernetesObject): ObjectReference {
  return referenceTo(gvkOf(object), object.metadata.namespace, object.metadata.name ?? '');
}

/** "ConfigMap shop/settings": how messages name an object. */
export function describeReference({ gvk, namespace = '', name }: ObjectReference): string {
  return `${gvk.kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}

/** The same for an object. */
export function describeObject(object: KubernetesObject): string {
  return describeReference(referenceOf(object));
}

/** How an API server serves a kind. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** Names of the subresources: "status", "scale", "token". */
  readonly subresources: readonly string[];
}
