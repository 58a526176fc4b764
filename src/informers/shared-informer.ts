import type { GroupVersionKind, KubernetesObject } from '../kernel/index.ts';

/** Which objects of a kind an informer holds. */
export interface Scope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Is told about changes, in order, after the store has them. */
export interface EventHandler {
  /** `isInInitialList`: the object was there before the handler. */
  onAdd?(object: KubernetesObject, isInInitialList: boolean): void;
  /** Both are the same object on a resync. */
  onUpdate?(previous: KubernetesObject, current: KubernetesObject): void;
  /** `last` is the last state that is known: what happened after it, while disconnected, was not seen. */
  onDelete?(last: KubernetesObject): void;
}

/** Reads from an informer's memory. Objects are shared: they are frozen and must not be changed. */
export interface Lister {
  /** By "namespace/name", or "name" for cluster-scoped kinds. */
  get(key: string): KubernetesObject | undefined;
  list(): readonly KubernetesObject[];
  /** Objects for which the index answered this value. @throws when there is no such index */
  byIndex(index: string, value: string): readonly KubernetesObject[];
}

/** A handler's registration. */
export interface HandlerRegistration {
  /** This handler has been told all objects of the initial list. */
  hasSynced(): boolean;
  remove(): void;
}

/** Keeps the objects of one kind and scope, and tells what changes. */
export interface SharedInformer {
  readonly gvk: GroupVersionKind;
  readonly lister: Lister;
  /** Adds an index; the same name again must come with the same function. */
  addIndex(name: string, values: (object: KubernetesObject) => readonly string[]): void;
  addHandler(handler: EventHandler): HandlerRegistration;
  /** The initial list is in the store and its handlers have been told. */
  hasSynced(): boolean;
  /** Why the last attempt to list or watch failed; `undefined` while all is well. */
  lastError(): Error | undefined;
}
