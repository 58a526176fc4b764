import type { Clock, ClusterName, KubernetesObject, Logger, Metrics, Random } from '../kernel/index.ts';
import type { Connection, ConnectionSource } from './connection.ts';
import type { Identity } from './identity.ts';

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
  /** How long a read may take that is no list. Default 10 s. */
  readonly requestTimeout?: number;
  /** A watch event longer than this ends the watch. Default 16 MiB. */
  readonly maxEventBytes?: number;
}

/** Options of {@link KubernetesClient.get}. */
export interface GetOptions {
  readonly signal?: AbortSignal;
  /** As whom to read; the client's own credentials when absent. */
  readonly identity?: Identity;
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
export interface ListOptions extends Selection {
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
export interface WatchOptions extends Selection {
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

/** Options of {@link KubernetesClient.apply}. */
export interface ApplyOptions {
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly subresource?: 'status';
}

/** Options of {@link KubernetesClient.update} and {@link KubernetesClient.jsonPatch}. */
export interface SubresourceOptions {
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
