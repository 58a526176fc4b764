import type {
  Clock,
  ClusterName,
  GroupVersionKind,
  KubernetesObject,
  Logger,
  Metrics,
  Random,
} from '../kernel/index.ts';
import type { Connection } from './connection.ts';
import type { WriteContext } from './identity.ts';
import type { ObjectReference, Resource } from './resource.ts';
import type { WatchEvent } from './watch-event.ts';

/** Options of {@link KubernetesClient}; durations in milliseconds. */
export interface KubernetesClientOptions {
  readonly cluster: ClusterName;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly userAgent?: string;
  /** How long a single-object read may take. Default 10 s. */
  readonly requestTimeout?: number;
}

/** Options of {@link KubernetesClient.get}. */
export interface GetOptions {
  readonly signal?: AbortSignal;
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

/** Talks to one API server. Connections are opened by the first call and kept until {@link close}. */
export class KubernetesClient {
  readonly cluster: ClusterName;

  constructor(options: KubernetesClientOptions) {
    this.cluster = options.cluster;
  }

  /**
   * Reads one object. `undefined` means that it certainly does not exist.
   *
   * @throws KindNotFoundError when the kind itself is not served
   */
  get(ref: ObjectReference, options: GetOptions = {}): Promise<KubernetesObject | undefined> {
    throw notWritten(ref, options);
  }

  /** Reads one page of a kind; the whole kind without `limit`. */
  list(gvk: GroupVersionKind, options: ListOptions = {}): Promise<ListPage> {
    throw notWritten(gvk, options);
  }

  /** Streams changes until the server ends the watch or the signal aborts (both end the iteration normally). */
  watch(gvk: GroupVersionKind, options: WatchOptions): AsyncIterable<WatchEvent> {
    throw notWritten(gvk, options);
  }

  /** Creates an object. `metadata.generateName` works. @throws AlreadyExistsError */
  create(object: KubernetesObject, write: WriteContext, options: CreateOptions = {}): Promise<KubernetesObject> {
    throw notWritten(object, write, options);
  }

  /** Server-side apply as the write's field manager. @throws FieldManagerConflictError unless forced */
  apply(object: KubernetesObject, write: WriteContext, options: ApplyOptions = {}): Promise<KubernetesObject> {
    throw notWritten(object, write, options);
  }

  /** Replaces an object that bears the resourceVersion it was read with. @throws ConflictError when it moved on */
  update(object: KubernetesObject, write: WriteContext, options: SubresourceOptions = {}): Promise<KubernetesObject> {
    throw notWritten(object, write, options);
  }

  /** Applies a JSON patch, all of it or nothing. A failing `test` is an InvalidError. */
  jsonPatch(
    ref: ObjectReference,
    operations: readonly JsonPatchOperation[],
    write: WriteContext,
    options: SubresourceOptions = {},
  ): Promise<KubernetesObject> {
    throw notWritten(ref, operations, write, options);
  }

  /** Asks for the deletion of exactly this object; that it is gone already is fine. @throws ConflictError when it is another */
  delete(
    ref: ObjectReference,
    preconditions: DeletePreconditions,
    write: WriteContext,
    options: DeleteOptions = {},
  ): Promise<void> {
    throw notWritten(ref, preconditions, write, options);
  }

  /** Posts to a subresource: `token` of a service account, `eviction` of a pod. */
  createSubresource(
    ref: ObjectReference,
    subresource: string,
    body: Record<string, unknown>,
    write: WriteContext,
  ): Promise<KubernetesObject> {
    throw notWritten(ref, subresource, body, write);
  }

  /** How the server serves a kind. @throws KindNotFoundError when it certainly does not */
  resourceFor(gvk: GroupVersionKind): Promise<Resource> {
    throw notWritten(gvk);
  }

  /** The server's version. */
  version(): Promise<{ readonly gitVersion: string }> {
    throw notWritten();
  }

  /** Resolves when the server calls itself ready. */
  readyz(): Promise<void> {
    throw notWritten();
  }

  /** Ends all watches and connections. */
  close(): Promise<void> {
    throw notWritten();
  }
}

function notWritten(...values: unknown[]): Error {
  return new Error(`not written yet ${values.length}`);
}
