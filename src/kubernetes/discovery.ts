import { apiVersionOf, formatGvk } from '../kernel/index.ts';
import type { Clock, GroupVersionKind, Json } from '../kernel/index.ts';
import { failureOf } from './answer.ts';
import { ApiError, KindNotFoundError, UnexpectedAnswerError } from './api-errors.ts';
import { readItems } from './decoding/list-stream.ts';
import { isFields } from './fields.ts';
import type { Fields } from './fields.ts';
import type { RequestSender } from './requests/request-sender.ts';
import type { Resource } from './resource.ts';
import { untilAborted } from './transport/deadline.ts';

const ACCEPT = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');

/** A miss reads again at most this often: the API server itself takes about as long to serve a new CRD. */
const MIN_AGE = 2000;
/** Seen: 27 kB on a bare server; some 400 bytes for each further kind and version. */
const MAX_BYTES = 32 * 1024 * 1024;
/** What can be a part of a path; anything else would lead elsewhere, or be refused by the layer below. */
const PLURAL = /^[a-z0-9][a-z0-9.-]{0,252}$/;
const TIMEOUT = 10_000;
const PIECE = 64 * 1024;

/** What one of the two discovery documents said. */
interface Document {
  readonly etag: string | undefined;
  readonly resources: ReadonlyMap<string, Resource>;
  /** apiVersions of which the server could not say what they serve: an aggregated API that does not answer. */
  readonly unknown: ReadonlySet<string>;
}

/**
 * Which kinds an API server serves, and how, by aggregated discovery (Kubernetes 1.26 and newer).
 *
 * Kinds that were found are remembered until a call is denied one. A kind that was not found is looked for again, at most
 * every two seconds. A group version that the server could not look into is *unknown*, which is not the same as absent.
 */
export class Discovery {
  readonly #sender: RequestSender;
  readonly #clock: Clock;
  readonly #documents = new Map<string, Document>();
  #reading: Promise<void> | undefined;
  /** The server denied something that is remembered here: it is read again before it is used. */
  #isSuspect = false;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(sender: RequestSender, clock: Clock) {
    this.#sender = sender;
    this.#clock = clock;
  }

  /**
   * How the server serves a kind. The signal ends the waiting, not the reading, which others may be waiting for.
   *
   * @throws KindNotFoundError when it certainly does not, ApiError when that is unknown
   */
  async resourceFor(gvk: GroupVersionKind, signal?: AbortSignal): Promise<Resource> {
    const known = this.#isSuspect ? undefined : this.#find(gvk);
    if (known) return known;
    const isDue = this.#isSuspect || this.#clock.monotonic() - this.#readAt >= MIN_AGE;
    if (isDue) await (signal ? untilAborted(this.#read(), signal) : this.#read());
    const found = this.#find(gvk);
    if (found) return found;
    const name = formatGvk(gvk);
    if ([...this.#documents.values()].some(({ unknown }) => unknown.has(apiVersionOf(gvk)))) {
      throw new ApiError(`${name}: the server cannot tell now what ${apiVersionOf(gvk)} serves`);
    }
    throw new KindNotFoundError(`${name}: the server does not serve this kind`, gvk);
  }

  /**
   * Runs a call on the resource of a kind. A 404 that says nothing of an object is checked by reading again: a server (or a
   * proxy before it) may answer so for other reasons, and "there is no such kind" must be certain. A kind that is served in
   * another way by now (its CRD was created anew) is called once more, in that way.
   */
  async withResource<Result>(
    gvk: GroupVersionKind,
    signal: AbortSignal | undefined,
    call: (resource: Resource) => Promise<Result>,
  ): Promise<Result> {
    const resource = await this.resourceFor(gvk, signal);
    try {
      return await call(resource);
    } catch (error) {
      if (!(error instanceof KindNotFoundError)) throw error;
      this.#isSuspect = true;
      const again = await this.resourceFor(gvk, signal);
      if (again.plural !== resource.plural || again.namespaced !== resource.namespaced) return await call(again);
      throw new UnexpectedAnswerError(`${error.message} at this path, but discovery lists it`, {
        status: error.status,
        cause: error,
      });
    }
  }

  #find(gvk: GroupVersionKind): Resource | undefined {
    const name = formatGvk(gvk);
    return [...this.#documents.values()].map(({ resources }) => resources.get(name)).find(Boolean);
  }

  /** All who miss something at the same time share one reading. */
  #read(): Promise<void> {
    this.#reading ??= Promise.all([this.#readDocument('/api'), this.#readDocument('/apis')])
      .then(() => {
        this.#readAt = this.#clock.monotonic();
        this.#isSuspect = false;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #readDocument(path: string): Promise<void> {
    const what = `discovery ${path}`;
    const etag = this.#documents.get(path)?.etag;
    const headers = { accept: ACCEPT, ...(etag !== undefined && { 'if-none-match': etag }) };
    const answer = await this.#sender.send({ method: 'GET', path, headers, timeout: TIMEOUT, maxBytes: MAX_BYTES });
    if (answer.status === 304 && etag !== undefined) return;
    if (answer.status !== 200) throw failureOf(answer, { what });
    const document = {
      etag: answer.header('etag'),
      resources: new Map<string, Resource>(),
      unknown: new Set<string>(),
    };
    const reading = { what, clock: this.#clock, maxItemBytes: MAX_BYTES, maxListBytes: MAX_BYTES };
    const { kind } = await readItems(piecesOf(answer.text), reading, (group) => addGroup(document, group));
    if (kind !== 'APIGroupDiscoveryList') {
      throw new UnexpectedAnswerError(`${what}: no APIGroupDiscoveryList; Kubernetes 1.26 or newer is needed`);
    }
    this.#documents.set(path, document);
  }
}

/** A text in pieces, between which its reader can rest. */
async function* piecesOf(text: string): AsyncGenerator<Buffer, void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

function addGroup(
  { resources, unknown }: { resources: Map<string, Resource>; unknown: Set<string> },
  item: Json,
): void {
  if (!isFields(item)) return;
  const group = isFields(item['metadata']) ? textOf(item['metadata']['name']) : '';
  for (const entry of entriesOf(item['versions'])) {
    const version = textOf(entry['version']);
    if (entry['freshness'] !== 'Current') unknown.add(apiVersionOf({ group, version }));
    for (const served of entriesOf(entry['resources'])) {
      const resource = readResource(served, { group, version });
      if (PLURAL.test(resource.plural)) resources.set(formatGvk(resource), resource);
    }
  }
}

function readResource(entry: Fields, served: { group: string; version: string }): Resource {
  const kind = isFields(entry['responseKind']) ? entry['responseKind'] : {};
  return {
    group: served.group,
    version: served.version,
    kind: textOf(kind['kind']),
    plural: textOf(entry['resource']),
    namespaced: entry['scope'] === 'Namespaced',
    verbs: textsOf(entry['verbs']),
    subresources: entriesOf(entry['subresources']).map((subresource) => textOf(subresource['subresource'])),
  };
}

function entriesOf(value: Json | undefined): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
