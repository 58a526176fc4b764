import type { Cancel, ClusterName, GroupVersionKind, KubernetesObject } from '../kernel/index.ts';
import { failureOf, readFields } from './answer.ts';
import { UnexpectedAnswerError } from './api-errors.ts';
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
  SubresourcePatchOptions,
  WatchOptions,
} from './client-options.ts';
import { Discovery } from './discovery.ts';
import type { WriteContext, WriteStamp } from './identity.ts';
import { ObjectReads } from './object-reads.ts';
import { ObjectWrites } from './object-writes.ts';
import { Pods } from './pods/pods.ts';
import { RequestSender } from './requests/request-sender.ts';
import type { ObjectReference, Resource } from './resource.ts';
import type { Answer } from './transport/exchange.ts';
import type { WatchEvent } from './watch-event.ts';

const REQUEST_TIMEOUT = 10_000;

/** etcd holds at most 1.5 MiB per object, which JSON's escapes can make six times as long. */
const MAX_OBJECT_BYTES = 16 * 1024 * 1024;
/** Lists are pages of 500, or everything where the server ignores the limit: seen are 150 MB for 100,000 objects. */
const MAX_LIST_BYTES = 256 * 1024 * 1024;

/** Talks to one API server. Connections are opened by the first call and kept until {@link close}. */
export class KubernetesClient {
  readonly cluster: ClusterName;
  /** Commands and ports of pods. */
  readonly pods: Pods;
  readonly #sender: RequestSender;
  readonly #discovery: Discovery;
  readonly #reads: ObjectReads;
  readonly #writes: ObjectWrites;
  readonly #requestTimeout: number;

  constructor(options: KubernetesClientOptions) {
    const { cluster, clock, requestTimeout = REQUEST_TIMEOUT } = options;
    const { maxObjectBytes = MAX_OBJECT_BYTES, maxListBytes = MAX_LIST_BYTES } = options;
    const sender = new RequestSender({ ...options, userAgent: options.userAgent ?? 'atoll' });
    const discovery = new Discovery(sender, clock);
    this.cluster = cluster;
    this.pods = new Pods(sender, clock);
    this.#requestTimeout = requestTimeout;
    this.#sender = sender;
    this.#discovery = discovery;
    this.#reads = new ObjectReads({ sender, discovery, clock, requestTimeout, maxObjectBytes, maxListBytes });
    this.#writes = new ObjectWrites({ sender, discovery, maxObjectBytes });
  }

  /** From now on every write bears this, or nothing. */
  stampWrites(stamp: WriteStamp | undefined): void {
    this.#sender.stampWrites(stamp);
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
    return this.#reads.get(ref, options);
  }

  /**
   * Reads one page of a kind; the whole kind without `limit`. Items are decoded one by one while the answer comes. What is
   * answered is complete.
   *
   * @throws ExpiredError when `continue` or an exact version is too old; UnexpectedAnswerError for what is no such list
   */
  async list(gvk: GroupVersionKind, options: ListOptions = {}): Promise<ListPage> {
    return this.#reads.list(gvk, options);
  }

  /**
   * Streams changes until the server ends the watch or the signal aborts; both end the iteration normally.
   *
   * @throws ExpiredError and the other classes, for ERROR events too; UnreachableError when the stream breaks;
   * UnexpectedAnswerError when the server sends something that is no event
   */
  watch(gvk: GroupVersionKind, options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    return this.#reads.watch(gvk, options);
  }

  /** Creates an object; `metadata.generateName` works. Unknown fields are refused. @throws AlreadyExistsError */
  async create(object: KubernetesObject, write: WriteContext, options: CreateOptions = {}): Promise<KubernetesObject> {
    return this.#writes.create(object, write, options);
  }

  /** Server-side apply as the write's field manager. @throws FieldManagerConflictError unless forced */
  async apply(object: KubernetesObject, write: WriteContext, options: ApplyOptions = {}): Promise<KubernetesObject> {
    return this.#writes.apply(object, write, options);
  }

  /** Replaces an object that bears the resourceVersion it was read with. @throws ConflictError when it moved on */
  async update(
    object: KubernetesObject,
    write: WriteContext,
    options: SubresourceOptions = {},
  ): Promise<KubernetesObject> {
    return this.#writes.update(object, write, options);
  }

  /** Applies a JSON patch, all of it or nothing. @throws InvalidError when a `test` does not hold */
  async jsonPatch(
    ref: ObjectReference,
    operations: readonly JsonPatchOperation[],
    write: WriteContext,
    options: SubresourcePatchOptions = {},
  ): Promise<KubernetesObject> {
    return this.#writes.jsonPatch(ref, operations, write, options);
  }

  /** Asks for the deletion of exactly this object; that it is gone is fine. @throws ConflictError when it is another */
  async delete(
    ref: ObjectReference,
    preconditions: DeletePreconditions,
    write: WriteContext,
    options: DeleteOptions = {},
  ): Promise<void> {
    return this.#writes.delete(ref, preconditions, write, options);
  }

  /**
   * Posts to a subresource, which answers with a kind of its own: `token` of a service account, `eviction` of a pod.
   *
   * @throws TooManyRequestsError when a disruption budget does not allow an eviction now
   */
  async createSubresource(
    ref: ObjectReference,
    subresource: string,
    body: Record<string, unknown>,
    write: WriteContext,
  ): Promise<KubernetesObject> {
    return this.#writes.createSubresource(ref, subresource, body, write);
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
    const answer = await this.#read('/readyz');
    if (answer.status !== 200) throw failureOf(answer, { what: 'get readyz' });
  }

  /** Ends all watches and connections. */
  async close(): Promise<void> {
    await this.#sender.close();
  }

  async #read(path: string): Promise<Answer> {
    return this.#sender.send({ method: 'GET', path, timeout: this.#requestTimeout, maxBytes: MAX_OBJECT_BYTES });
  }
}
