import { objectKey } from '../../src/kernel/index.ts';
import type { KubernetesObject, ObjectMeta } from '../../src/kernel/index.ts';
import { ExpiredError, ResourceVersionTooLargeError } from '../../src/kubernetes/index.ts';
import type { ListOptions, ListPage, WatchEvent, WatchOptions } from '../../src/kubernetes/index.ts';

/**
 * One kind's objects and their history, as a watch cache has them: lists, streamed lists and watches from any version
 * that was not compacted. Watches can be cut, and the storage set back, at will.
 */
export class MemoryServer {
  /** How many watches are open. */
  open = 0;
  lists = 0;
  /** Thrown by the next calls, one each. */
  readonly failures: Error[] = [];
  readonly #kind: { readonly apiVersion: string; readonly kind: string };
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #log: WatchEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #version = 10;
  #compacted = 0;
  #uid = 0;
  #cut = new AbortController();

  constructor(kind = { apiVersion: 'v1', kind: 'ConfigMap' }) {
    this.#kind = kind;
  }

  get version(): string {
    return String(this.#version);
  }

  /** What there is, by key. */
  get objects(): ReadonlyMap<string, KubernetesObject> {
    return this.#objects;
  }

  /** Creates or changes an object. */
  put(name: string, metadata: ObjectMeta = {}, fields: Readonly<Record<string, unknown>> = {}): KubernetesObject {
    this.#version += 1;
    const key = objectKey({ ...this.#kind, metadata: { ...metadata, name } });
    const previous = this.#objects.get(key);
    if (!previous) this.#uid += 1;
    const uid = previous?.metadata.uid ?? `uid-${this.#uid}`;
    const object = { ...this.#kind, ...fields, metadata: { uid, ...metadata, name, resourceVersion: this.version } };
    this.#objects.set(key, object);
    this.#tell({ type: previous ? 'MODIFIED' : 'ADDED', object });
    return object;
  }

  /** Deletes an object by its key. */
  remove(key: string): void {
    const previous = this.#objects.get(key);
    if (!previous) return;
    this.#objects.delete(key);
    this.#version += 1;
    const object = { ...previous, metadata: { ...previous.metadata, resourceVersion: this.version } };
    this.#tell({ type: 'DELETED', object });
  }

  /** Lets versions pass that this kind has no part in. */
  skip(versions: number): void {
    this.#version += versions;
  }

  bookmark(): void {
    const metadata = { resourceVersion: this.version };
    this.#tell({ type: 'BOOKMARK', object: { ...this.#kind, metadata } });
  }

  /** Ends all watches, as a server that closes them. */
  cut(): void {
    this.#cut.abort();
    this.#cut = new AbortController();
  }

  /** Forgets the history: watches from before are answered by 410. */
  compact(): void {
    this.#compacted = this.#version;
  }

  /** Takes over what another server has, its version too: the storage was restored from a backup. */
  become(other: MemoryServer): void {
    this.#objects.clear();
    for (const [key, object] of other.#objects) this.#objects.set(key, object);
    this.#version = other.#version;
    this.#compacted = other.#version;
    this.#log.length = 0;
  }

  async list({ resourceVersion = '' }: ListOptions): Promise<ListPage> {
    this.lists += 1;
    this.#fail();
    if (Number(resourceVersion) > this.#version) throw new ResourceVersionTooLargeError('too large', { status: 504 });
    return { items: [...this.#objects.values()], resourceVersion: this.version };
  }

  async *watch(options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    this.#fail();
    const cut = AbortSignal.any([options.signal, this.#cut.signal]);
    this.open += 1;
    try {
      options.onOpen?.();
      let version = Number(options.resourceVersion);
      if (options.sendInitialEvents === true) {
        this.lists += 1;
        version = this.#version;
        yield* this.#initialEvents();
      }
      if (version < this.#compacted) throw new ExpiredError('too old', { status: 410 });
      yield* this.#since(version, cut);
    } finally {
      this.open -= 1;
    }
  }

  *#initialEvents(): Generator<WatchEvent, void> {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: this.version, annotations };
    const objects = [...this.#objects.values()];
    for (const object of objects) yield { type: 'ADDED', object };
    yield { type: 'BOOKMARK', object: { ...this.#kind, metadata } };
  }

  async *#since(version: number, cut: AbortSignal): AsyncGenerator<WatchEvent, void> {
    const start = this.#log.findIndex(({ object }) => Number(object.metadata.resourceVersion) > version);
    let position = start < 0 ? this.#log.length : start;
    while (!cut.aborted) {
      const event = this.#log[position];
      if (event === undefined) {
        await this.#news(cut);
      } else {
        position += 1;
        yield event;
      }
    }
  }

  /** Resolves with the next event, or when the watch is cut. */
  #news(cut: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    cut.addEventListener('abort', () => resolve(), { once: true });
    return promise;
  }

  #tell(event: WatchEvent): void {
    this.#log.push(event);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }

  #fail(): void {
    const failure = this.failures.shift();
    if (failure) throw failure;
  }
}
