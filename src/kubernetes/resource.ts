import type { GroupVersionKind } from '../kernel/index.ts';

/** Names one object of one kind. */
export interface ObjectReference {
  readonly gvk: GroupVersionKind;
  readonly namespace?: string;
  readonly name: string;
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
