import type { Clock, GroupVersionKind, KubernetesObject } from '../kernel/index.ts';
import { failureOf, readFields } from './answer.ts';
import { NotFoundError } from './api-errors.ts';
import type { GetOptions, ListOptions, ListPage, Selection, WatchOptions } from './client-options.ts';
import type { Discovery } from './discovery.ts';
import { readList } from './list-reader.ts';
import { openList } from './list-stream.ts';
import { ObjectDecoder, decodeAnyKind } from './object-decoder.ts';
import type { ApiRequest, RequestSender } from './request-sender.ts';
import { collectionPath, objectPath } from './resource-path.ts';
import { describeReference } from './resource.ts';
import type { ObjectReference, Resource } from './resource.ts';
import type { WatchEvent } from './watch-event.ts';
import { readWatch } from './watch-stream.ts';

const LIST_TIMEOUT = 30_000;

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

  constructor(options: ObjectReadsOptions) {
    this.#options = options;
  }

  async get(ref: ObjectReference, options: GetOptions): Promise<KubernetesObject | undefined> {
    const { discovery, sender, requestTimeout, maxObjectBytes } = this.#options;
    const { signal, identity, subresource, ...form } = options;
    const what = `get ${describeReference(ref)}`;
    const decoder = new ObjectDecoder(ref.gvk, form);
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
    const { discovery, sender, clock, maxObjectBytes, maxListBytes } = this.#options;
    const { namespace, signal, limit, continue: token } = options;
    const query = { ...selectionQuery(options), limit, continue: token };
    const what = `list ${gvk.kind}`;
    return discovery.withResource(gvk, signal, async (resource) => {
      const decoder = new ObjectDecoder(gvk, options);
      const request = { path: collectionPath(resource, namespace), query, headers: { accept: decoder.accept('List') } };
      return openList(
        sender,
        clock,
        { ...request, timeout: LIST_TIMEOUT, maxBytes: maxListBytes, signal },
        async (answer) => {
          if (answer.status !== 200) throw failureOf(answer, { what, gvk });
          return readList(answer.chunks, decoder, { what, clock, maxItemBytes: maxObjectBytes, maxListBytes });
        },
      );
    });
  }

  async *watch(gvk: GroupVersionKind, options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    const { discovery, clock, maxObjectBytes: maxBytes } = this.#options;
    const decoder = new ObjectDecoder(gvk, options);
    try {
      const chunks = await discovery.withResource(gvk, options.signal, (resource) =>
        this.#openWatch(resource, decoder, options),
      );
      yield* readWatch(chunks, decoder, { clock, maxBytes });
    } catch (error) {
      if (!options.signal.aborted) throw error;
    }
  }

  async #openWatch(resource: Resource, decoder: ObjectDecoder, options: WatchOptions): Promise<AsyncIterable<Buffer>> {
    const { namespace, signal, onOpen, allowWatchBookmarks, sendInitialEvents, timeoutSeconds } = options;
    const query = { allowWatchBookmarks, sendInitialEvents, timeoutSeconds };
    const answer = await this.#options.sender.open({
      method: 'GET',
      path: collectionPath(resource, namespace),
      query: { ...selectionQuery(options), ...query, watch: true },
      headers: { accept: decoder.accept('') },
      timeout: LIST_TIMEOUT,
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
