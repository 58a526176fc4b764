import type { KubernetesObject } from '../kernel/index.ts';

/** One event of a watch. ERROR events never show: they are thrown as the typed error that they carry. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** The object after the change, or as it was last (DELETED); for BOOKMARK only kind and metadata. */
  readonly object: KubernetesObject;
}
