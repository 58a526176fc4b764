import type { Clock, GroupVersionKind, KubernetesObject } from '../kernel/index.ts';
import { failureOf, readFields } from './answer.ts';
import { NotFoundError } from './api-errors.ts';
import type { GetOptions, ListOptions, ListPage, Selection, WatchOptions } from './client-options.ts';
import { Deadline } from './transport/deadline.ts';
import type { Discovery } from './discovery.ts';
import { readList } from './decoding/list-reader.ts';
import { ObjectDecoder, decodeAnyKind } from './decoding/object-decoder.ts';
import type { ApiRequest } from './requests/api-request.ts';
import type { RequestSender } from './requests/request-sender.ts';
import { collectionPath, objectPath } from './resource-path.ts';
import { describeReference } from './resource.ts';
import type { ObjectReference, Resource } from './resource.ts';
import { StringPool } from './decoding/string-pool.ts';
import type { WatchEvent } from './watch-event.ts';
import { readWatch } from './decoding/watch-stream.ts';

/** Until a stream begins, and between two pieces of a list. */
const STREAM_TIMEOUT = 30_000;
/** For a whole page. An API server itself gives up after a minute, whatever it was asked but for watches. */
const LIST_TIMEOUT = 60_000;

/** Options of {@link ObjectReads}; milliseconds and bytes. */
export interface ObjectReadsOptions {
  readonly sender: RequestSender;
  readonly discovery: Discovery;
  readonly clock: Clock;
  readonly requestTimeout: number;
  readonly maxObjectBytes: number;
  readonly maxListBytes: number;
}

/** What `KubernetesClient` reads objects with; it says what the methods do. */
export class ObjectReads {
  readonly #options: ObjectReadsOptions;
  readonly #strings = new StringPool();

  constructor(options: ObjectReadsOptions) {
    this.#options = options;
  }

  async get(ref: ObjectReference, options: GetOptions): Promise<KubernetesObject | undefined> {
    const { discovery, sender, requestTimeout, maxObjectBytes } = this.#options;
    const { signal, identity, subresource, ...form } = options;
    const what = `get ${describeReference(ref)}`;
    const decoder = new ObjectDecoder(ref.gvk, form, this.#strings);
    try {
      return await discovery.withResource(ref.gvk, signal, async (resource) => {
        const path = objectPath(resource, ref, subresource);
        const headers = { accept: decoder.accept('') };
        const limits = { timeout: requestTimeout, maxBytes: maxObjectBytes };
        const answer = await sender.send({ method: 'GET', path, headers, ...limits, signal, identity });
        const fields = readFields(answer, { what, gvk: ref.gvk });
        return subresource === undefined ? decoder.object(fields, what) : decodeAnyKind(fields, what);
      });
    } catch (error) {
      if (error instanceof NotFoundError && error.details.name === ref.name) return undefined;
      throw error;
    }
  }

  async list(gvk: GroupVersionKind, options: ListOptions): Promise<ListPage> {
    const { discovery, clock } = this.#options;
    const what = `list ${gvk.kind}`;
    const deadline = new Deadline(clock, { milliseconds: LIST_TIMEOUT, what, signal: options.signal });
    try {
      return await discovery.withResource(gvk, deadline.signal, async (resource) =>
        this.#readPage(resource, options, { what, signal: deadline.signal }),
      );
    } finally {
      deadline.cancel();
    }
  }

  async *watch(gvk: GroupVersionKind, options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    const { discovery, clock, maxObjectBytes: maxBytes } = this.#options;
    const decoder = new ObjectDecoder(gvk, options, this.#strings);
    try {
      const chunks = await discovery.withResource(gvk, options.signal, (resource) =>
        this.#openWatch(resource, decoder, options),
      );
      yield* readWatch(chunks, decoder, { clock, maxBytes, signal: options.signal });
    } catch (error) {
      if (!options.signal.aborted) throw error;
    }
  }

  async #readPage(
    resource: Resource,
    options: ListOptions,
    { what, signal }: { readonly what: string; readonly signal: AbortSignal },
  ): Promise<ListPage> {
    const { sender, clock, maxObjectBytes: maxItemBytes, maxListBytes } = this.#options;
    const { limit, continue: token } = options;
    const decoder = new ObjectDecoder(resource, options, this.#strings);
    const answer = await sender.open({
      method: 'GET',
      path: collectionPath(resource, options.namespace),
      query: { ...selectionQuery(options), limit, continue: token },
      headers: { accept: decoder.accept('List') },
      timeout: STREAM_TIMEOUT,
      maxBytes: maxListBytes,
      signal,
      stream: 'list',
    });
    if (answer.status !== 200) throw failureOf(answer, { what, gvk: decoder.gvk });
    return readList(answer.chunks, decoder, { what, clock, maxItemBytes, maxListBytes });
  }

  async #openWatch(resource: Resource, decoder: ObjectDecoder, options: WatchOptions): Promise<AsyncIterable<Buffer>> {
    const { namespace, signal, onOpen, allowWatchBookmarks, sendInitialEvents, timeoutSeconds } = options;
    const query = { allowWatchBookmarks, sendInitialEvents, timeoutSeconds };
    const answer = await this.#options.sender.open({
      method: 'GET',
      path: collectionPath(resource, namespace),
      query: { ...selectionQuery(options), ...query, watch: true },
      headers: { accept: decoder.accept('') },
      timeout: STREAM_TIMEOUT,
      maxBytes: this.#options.maxObjectBytes,
      signal,
      stream: 'watch',
    });
    if (answer.status !== 200) throw failureOf(answer, { what: `watch ${resource.kind}`, gvk: decoder.gvk });
    onOpen?.();
    return answer.chunks;
  }
}

function selectionQuery(selection: Selection): ApiRequest['query'] {
  const { labelSelector, fieldSelector, resourceVersion, resourceVersionMatch } = selection;
  return { labelSelector, fieldSelector, resourceVersion, resourceVersionMatch };
}
