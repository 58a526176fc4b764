import { gvkOf } from '../kernel/index.ts';
import type { Cancel, ClusterName, GroupVersionKind, KubernetesObject } from '../kernel/index.ts';
import { readFields, readObject } from './answer.ts';
import { KindNotFoundError, NotFoundError, UnexpectedAnswerError } from './api-errors.ts';
import { errorFromFailure } from './api-status.ts';
import type {
  ApplyOptions,
  CreateOptions,
  DeleteOptions,
  DeletePreconditions,
  GetOptions,
  JsonPatchOperation,
  KubernetesClientOptions,
  ListOptions,
  ListPage,
  SubresourceOptions,
  WatchOptions,
} from './client-options.ts';
import { Discovery } from './discovery.ts';
import { formatBody } from './request-body.ts';
import type { WriteContext } from './identity.ts';
import { readListPage } from './list-page.ts';
import { RequestSender } from './request-sender.ts';
import type { ApiRequest } from './request-sender.ts';
import { collectionPath, objectPath, placeOf } from './resource-path.ts';
import { describeObject, describeReference } from './resource.ts';
import type { ObjectReference, Resource } from './resource.ts';
import type { Answer } from './transport.ts';
import type { WatchEvent } from './watch-event.ts';
import { readLines, readWatchEvent } from './watch-stream.ts';

const REQUEST_TIMEOUT = 10_000;
const LIST_TIMEOUT = 30_000;

/**
 * What the server may take for a write, and what is waited for its answer. Renew deadline (10 s) + 4.5 s is less than a
 * lease (15 s): a write of a replica that lost its lease has ended before another replica begins.
 */
const SERVER_WRITE_TIMEOUT = '4s';
const WRITE_TIMEOUT = 4500;

/** etcd holds at most 1.5 MiB per object. Lists are pages of 500, or everything when the server ignores the limit. */
const MAX_OBJECT_BYTES = 16 * 1024 * 1024;
const MAX_LIST_BYTES = 256 * 1024 * 1024;

/** A write as the methods of the client put it together. */
interface Write {
  readonly what: string;
  readonly gvk: GroupVersionKind;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly contentType?: string;
  readonly path: (resource: Resource) => string;
  readonly query?: ApiRequest['query'];
  readonly body: unknown;
  readonly write: WriteContext;
}

/** Talks to one API server. Connections are opened by the first call and kept until {@link close}. */
export class KubernetesClient {
  readonly cluster: ClusterName;
  readonly #sender: RequestSender;
  readonly #discovery: Discovery;
  readonly #requestTimeout: number;
  readonly #maxEventBytes: number;

  constructor(options: KubernetesClientOptions) {
    this.cluster = options.cluster;
    this.#sender = new RequestSender({ ...options, userAgent: options.userAgent ?? 'atoll' });
    this.#discovery = new Discovery(this.#sender, options.clock);
    this.#requestTimeout = options.requestTimeout ?? REQUEST_TIMEOUT;
    this.#maxEventBytes = options.maxEventBytes ?? MAX_OBJECT_BYTES;
  }

  /** Calls back whenever the server answers a call after one that it did not answer. */
  onRecovered(callback: () => void): Cancel {
    return this.#sender.onRecovered(callback);
  }

  /**
   * Reads one object. `undefined` means that it certainly does not exist.
   *
   * @throws KindNotFoundError when the kind itself is not served
   */
  async get(ref: ObjectReference, options: GetOptions = {}): Promise<KubernetesObject | undefined> {
    const context = { what: `get ${describeReference(ref)}`, gvk: ref.gvk };
    try {
      return await this.#withResource(ref.gvk, options.signal, async (resource) =>
        readObject(await this.#read(objectPath(resource, ref), options), context),
      );
    } catch (error) {
      if (error instanceof NotFoundError && error.details.name === ref.name) return undefined;
      throw error;
    }
  }

  /** Reads one page of a kind; the whole kind without `limit`. */
  async list(gvk: GroupVersionKind, options: ListOptions = {}): Promise<ListPage> {
    const { namespace, signal, ...query } = options;
    return this.#withResource(gvk, signal, async (resource) => {
      const path = collectionPath(resource, namespace);
      const request = { path, query, timeout: LIST_TIMEOUT, maxBytes: MAX_LIST_BYTES, signal };
      return readListPage(await this.#sender.send({ method: 'GET', ...request }), gvk);
    });
  }

  /**
   * Streams changes until the server ends the watch or the signal aborts; both end the iteration normally.
   *
   * @throws ExpiredError and the other classes, for ERROR events too; UnreachableError when the stream breaks;
   * UnexpectedAnswerError when the server sends something that is no event
   */
  async *watch(gvk: GroupVersionKind, options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    try {
      const stream = await this.#withResource(gvk, options.signal, (resource) =>
        this.#openWatch(gvk, resource, options),
      );
      for await (const line of readLines(stream, this.#maxEventBytes)) yield readWatchEvent(line, gvk);
    } catch (error) {
      if (!options.signal.aborted) throw error;
    }
  }

  /** Creates an object; `metadata.generateName` works. Unknown fields are refused. @throws AlreadyExistsError */
  async create(object: KubernetesObject, write: WriteContext, options: CreateOptions = {}): Promise<KubernetesObject> {
    return this.#writeObject({
      what: `create ${describeObject(object)}`,
      gvk: gvkOf(object),
      method: 'POST',
      path: (resource) => collectionPath(resource, object.metadata.namespace),
      query: { fieldValidation: 'Strict', dryRun: options.dryRun === true && 'All' },
      body: object,
      write,
    });
  }

  /** Server-side apply as the write's field manager. @throws FieldManagerConflictError unless forced */
  async apply(object: KubernetesObject, write: WriteContext, options: ApplyOptions = {}): Promise<KubernetesObject> {
    return this.#writeObject({
      what: `apply ${describeObject(object)}`,
      gvk: gvkOf(object),
      method: 'PATCH',
      contentType: 'application/apply-patch+yaml',
      path: (resource) => objectPath(resource, placeOf(object), options.subresource),
      query: { fieldValidation: 'Strict', dryRun: options.dryRun === true && 'All', force: options.force },
      body: object,
      write,
    });
  }

  /** Replaces an object that bears the resourceVersion it was read with. @throws ConflictError when it moved on */
  async update(
    object: KubernetesObject,
    write: WriteContext,
    options: SubresourceOptions = {},
  ): Promise<KubernetesObject> {
    return this.#writeObject({
      what: `update ${describeObject(object)}`,
      gvk: gvkOf(object),
      method: 'PUT',
      path: (resource) => objectPath(resource, placeOf(object), options.subresource),
      body: object,
      write,
    });
  }

  /** Applies a JSON patch, all of it or nothing. @throws InvalidError when a `test` does not hold */
  async jsonPatch(
    ref: ObjectReference,
    operations: readonly JsonPatchOperation[],
    write: WriteContext,
    options: SubresourceOptions = {},
  ): Promise<KubernetesObject> {
    return this.#writeObject({
      what: `patch ${describeReference(ref)}`,
      gvk: ref.gvk,
      method: 'PATCH',
      contentType: 'application/json-patch+json',
      path: (resource) => objectPath(resource, ref, options.subresource),
      body: operations,
      write,
    });
  }

  /** Asks for the deletion of exactly this object; that it is gone is fine. @throws ConflictError when it is another */
  async delete(
    ref: ObjectReference,
    preconditions: DeletePreconditions,
    write: WriteContext,
    options: DeleteOptions = {},
  ): Promise<void> {
    const what = `delete ${describeReference(ref)}`;
    try {
      await this.#write(
        {
          what,
          gvk: ref.gvk,
          method: 'DELETE',
          path: (resource) => objectPath(resource, ref),
          body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, ...options },
          write,
        },
        (answer) => readFields(answer, { what, gvk: ref.gvk }),
      );
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }

  /** Posts to a subresource, which answers with a kind of its own: `token` of a service account. */
  async createSubresource(
    ref: ObjectReference,
    subresource: string,
    body: Record<string, unknown>,
    write: WriteContext,
  ): Promise<KubernetesObject> {
    const what = `create ${subresource} of ${describeReference(ref)}`;
    return this.#write(
      {
        what,
        gvk: ref.gvk,
        method: 'POST',
        path: (resource) => objectPath(resource, ref, subresource),
        body,
        write,
      },
      (answer) => readFields(answer, { what, gvk: ref.gvk }) as unknown as KubernetesObject,
    );
  }

  /** How the server serves a kind. @throws KindNotFoundError when it certainly does not */
  async resourceFor(gvk: GroupVersionKind): Promise<Resource> {
    return this.#discovery.resourceFor(gvk);
  }

  /** The server's version. */
  async version(): Promise<{ readonly gitVersion: string }> {
    const { gitVersion } = readFields(await this.#read('/version'), { what: 'get version' });
    if (typeof gitVersion === 'string') return { gitVersion };
    throw new UnexpectedAnswerError('get version: the answer bears no gitVersion');
  }

  /** Resolves when the server calls itself ready. */
  async readyz(): Promise<void> {
    const { status: code, text } = await this.#read('/readyz');
    if (code !== 200) throw errorFromFailure({ code, status: undefined, text }, { what: 'get readyz' });
  }

  /** Ends all watches and connections. */
  async close(): Promise<void> {
    await this.#sender.close();
  }

  async #read(path: string, { signal, identity }: GetOptions = {}): Promise<Answer> {
    return this.#sender.send({
      method: 'GET',
      path,
      timeout: this.#requestTimeout,
      maxBytes: MAX_OBJECT_BYTES,
      signal,
      identity,
    });
  }

  async #openWatch(gvk: GroupVersionKind, resource: Resource, options: WatchOptions): Promise<AsyncIterable<Buffer>> {
    const { namespace, signal, onOpen, ...query } = options;
    const stream = await this.#sender.open({
      method: 'GET',
      path: collectionPath(resource, namespace),
      query: { ...query, watch: true },
      timeout: LIST_TIMEOUT,
      maxBytes: MAX_OBJECT_BYTES,
      signal,
    });
    if (stream.status === 200) {
      onOpen?.();
      return stream.chunks;
    }
    readFields(stream, { what: `watch ${gvk.kind}`, gvk });
    throw new UnexpectedAnswerError(`watch ${gvk.kind}: answered ${stream.status}`);
  }

  async #writeObject(write: Write): Promise<KubernetesObject> {
    return this.#write(write, (answer) => readObject(answer, write));
  }

  async #write<Result>(write: Write, read: (answer: Answer) => Result): Promise<Result> {
    const body = formatBody(write.body);
    const { fieldManager } = write.write;
    const query = {
      ...(write.method !== 'DELETE' && { fieldManager }),
      timeout: SERVER_WRITE_TIMEOUT,
      ...write.query,
    };
    return this.#withResource(write.gvk, write.write.signal, async (resource) => {
      const answer = await this.#sender.send({
        method: write.method,
        path: write.path(resource),
        query,
        headers: { 'content-type': write.contentType ?? 'application/json' },
        body,
        timeout: WRITE_TIMEOUT,
        maxBytes: MAX_OBJECT_BYTES,
        write: write.write,
      });
      return read(answer);
    });
  }

  /**
   * Runs a call on the resource of a kind. A 404 that says nothing of an object is checked with discovery: a server (or
   * a proxy before it) may answer so for other reasons, and "there is no such kind" must be certain.
   */
  async #withResource<Result>(
    gvk: GroupVersionKind,
    signal: AbortSignal | undefined,
    call: (resource: Resource) => Promise<Result>,
  ): Promise<Result> {
    const resource = await this.#discovery.resourceFor(gvk, signal);
    try {
      return await call(resource);
    } catch (error) {
      if (!(error instanceof KindNotFoundError)) throw error;
      this.#discovery.forget();
      await this.#discovery.resourceFor(gvk, signal);
      throw new UnexpectedAnswerError(`${error.message} at this path, but discovery lists it`, {
        status: error.status,
        cause: error,
      });
    }
  }
}
