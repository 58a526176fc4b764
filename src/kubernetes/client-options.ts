import type { Clock, ClusterName, KubernetesObject, Logger, Metrics, Random } from '../kernel/index.ts';
import type { Connection, ConnectionSource } from './connection/connection.ts';
import type { Identity } from './identity.ts';
import type { RequestLimits } from './requests/request-budget.ts';
import type { ObjectReference } from './resource.ts';

/** Options of {@link KubernetesClient}; durations in milliseconds. */
export interface KubernetesClientOptions {
  readonly cluster: ClusterName;
  /** A source is asked for each request: what it has changed is used at once, without losing a watch's place. */
  readonly connection: Connection | ConnectionSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly userAgent?: string;
  /** How much of the server the client may take, asked for each request. Default {@link DEFAULT_LIMITS}. */
  readonly limits?: () => RequestLimits;
  /** How long a read may take that is no list. Default 10 s. */
  readonly requestTimeout?: number;
  /** The most bytes that one object may take: alone, in a list or in an event. Default 16 MiB. */
  readonly maxObjectBytes?: number;
  /** The most bytes that a list, or a page of it, may take. Default 256 MiB. */
  readonly maxListBytes?: number;
}

/** In which form objects are read. */
export interface ObjectForm {
  /** Only apiVersion, kind and metadata, which the server cuts out where it can (PartialObjectMetadata). */
  readonly metadataOnly?: boolean;
  /**
   * Called for each object as it is decoded, before the next one is: what it leaves out is never held. Its answer takes the
   * object's place; what it throws, the call throws. Bookmarks do not pass through it.
   */
  readonly transform?: (object: KubernetesObject) => KubernetesObject;
}

/** Options of {@link KubernetesClient.get}. */
export interface GetOptions extends ObjectForm {
  readonly signal?: AbortSignal;
  /** As whom to read; the client's own credentials when absent. */
  readonly identity?: Identity;
  /** Reads this subresource instead of the object; it may be of another kind (`scale`), and is not transformed. */
  readonly subresource?: string;
}

/** Which objects of a kind to list or watch, and from when. */
export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

/** Options of {@link KubernetesClient.list}. */
export interface ListOptions extends Selection, ObjectForm {
  readonly limit?: number;
  readonly continue?: string;
  readonly signal?: AbortSignal;
}

/** One page of a list. Items carry apiVersion and kind. */
export interface ListPage {
  readonly items: KubernetesObject[];
  readonly resourceVersion: string;
  /** Token of the next page; absent on the last. */
  readonly continue?: string;
}

/** Options of {@link KubernetesClient.watch}. */
export interface WatchOptions extends Selection, ObjectForm {
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
  /** Called when the server has accepted the watch: it may be a minute until it says something. */
  readonly onOpen?: () => void;
  readonly signal: AbortSignal;
}

/** Options of {@link KubernetesClient.create}. */
export interface CreateOptions {
  readonly dryRun?: boolean;
}

/** Options of {@link KubernetesClient.update}. */
export interface SubresourceOptions {
  readonly subresource?: string;
  /** Whose subresource it is, where it has a kind of its own: the Deployment of a Scale. */
  readonly of?: ObjectReference;
}

/** Options of {@link KubernetesClient.apply}. */
export interface ApplyOptions extends SubresourceOptions {
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** Options of {@link KubernetesClient.jsonPatch}. */
export interface SubresourcePatchOptions {
  readonly subresource?: string;
}

/** Which object exactly a delete means. */
export interface DeletePreconditions {
  readonly uid: string;
  readonly resourceVersion?: string;
}

/** Options of {@link KubernetesClient.delete}. */
export interface DeleteOptions {
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
}

/** One operation of RFC 6902. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };
