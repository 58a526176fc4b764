import type { KubernetesObject } from '../kernel/index.ts';
import type { ListOptions, ListPage, WatchEvent, WatchOptions } from '../kubernetes/index.ts';

/** The objects of one kind and scope at a server. */
export interface ReflectorSource {
  list(options: ListOptions): Promise<ListPage>;
  watch(options: WatchOptions): AsyncIterable<WatchEvent>;
  /** The resourceVersion that the server's storage is at now, whatever the server has cached. */
  newestVersion(signal: AbortSignal): Promise<string>;
}

/** The whole of a list, whatever the number of pages. */
export interface FullList {
  /** By key, in the server's order. */
  readonly objects: ReadonlyMap<string, KubernetesObject>;
  /** About how many bytes of heap they take. */
  readonly size: number;
  readonly resourceVersion: string;
}

/** What a reflector keeps current. What one of these methods throws is answered by another list. */
export interface ReflectorTarget {
  /**
   * These are all objects that there are. With `isRewound` the server is at an older version than it was before: equal
   * versions need not mean equal objects.
   */
  replace(list: FullList, isRewound: boolean): Promise<void>;
  /** One object was added, modified or deleted. */
  change(event: WatchEvent): void;
  /** Nothing more happened up to this version. */
  bookmark(resourceVersion: string): void;
  /** The server said something: what is here is as fresh as can be. */
  heard(): void;
  /** Listing or watching failed; it is tried again. */
  failed(error: Error): void;
}
