import type { GroupVersionKind, KubernetesObject } from '../kernel/index.ts';

/** Which objects of a kind an informer holds. */
export interface Scope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/**
 * Is told about changes, in order, after the store has them. What a method returns does not matter, unless it is a
 * promise: then the handler is told nothing more until that has settled, and what comes meanwhile is kept and, where
 * much comes, drawn together by object.
 */
export interface EventHandler {
  /** `isInInitialList`: the object was there before the handler. */
  onAdd?(object: KubernetesObject, isInInitialList: boolean): unknown;
  /** Both are the same object on a resync. */
  onUpdate?(previous: KubernetesObject, current: KubernetesObject): unknown;
  /**
   * `last` is the object as the server deleted it, or, with `isFinalStateUnknown`, the last state that is known: it was
   * deleted while nobody looked.
   */
  onDelete?(last: KubernetesObject, isFinalStateUnknown: boolean): unknown;
}

/** Options of {@link SharedInformer.addHandler}. */
export interface HandlerOptions {
  /**
   * Milliseconds after which the handler is told all objects again, ± 10 %; at least 1 s, 0 for never. Default is the
   * factory's.
   */
  readonly resyncPeriod?: number;
}

/** Reads from an informer's memory. Objects are shared: they are frozen and must not be changed. */
export interface Lister {
  /** By "namespace/name", or "name" for cluster-scoped kinds. */
  get(key: string): KubernetesObject | undefined;
  list(): readonly KubernetesObject[];
  /** Objects for which the index answered this value. @throws TypeError when there is no such index */
  byIndex(index: string, value: string): readonly KubernetesObject[];
}

/** A handler's registration. The same handler may be registered more than once, and is then told more than once. */
export interface HandlerRegistration {
  /** This handler has been told all objects of the initial list, and what it returned has settled. */
  hasSynced(): boolean;
  /** Resolves when {@link hasSynced}; never, when the handler is removed before. */
  readonly synced: Promise<void>;
  /** The handler is told nothing more, whatever was waiting for it. Calling it again does nothing. */
  remove(): void;
}

/** Answers under which values an object is to be found. */
export type IndexValues = (object: KubernetesObject) => readonly string[];

/** Keeps the objects of one kind and scope, and tells what changes. */
export interface SharedInformer {
  readonly gvk: GroupVersionKind;
  readonly lister: Lister;
  /** Adds an index; the same name again must come with the same function. */
  addIndex(name: string, values: IndexValues): void;
  /** A handler that comes late is told what there is. @throws InformerStoppedError */
  addHandler(handler: EventHandler, options?: HandlerOptions): HandlerRegistration;
  /** The initial list is in the store and its handlers have been told. */
  hasSynced(): boolean;
  /** Why the last attempt to list or watch failed; `undefined` while all is well. */
  lastError(): Error | undefined;
  /** The version that the store is at: of the last list, event or bookmark; `undefined` before the first list. */
  resourceVersion(): string | undefined;
  /**
   * Whoever asked for the informer needs it no more: the handlers added through this handle are removed. When nobody
   * needs it, it stops, and reading from it is an error. Calling it again does nothing.
   */
  release(): void;
}
