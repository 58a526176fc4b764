import { compareResourceVersions } from '../informers/index.ts';
import type { HandlerRegistration, IndexValues, Lister, SharedInformer } from '../informers/index.ts';
import { objectKey } from '../kernel/index.ts';
import type { Clock, KubernetesObject } from '../kernel/index.ts';

/** Options of {@link MutationCache}. */
export interface MutationCacheOptions {
  readonly informer: SharedInformer;
  readonly clock: Clock;
  /** How many written objects are kept at most; the oldest goes first. Default 10,000. */
  readonly capacity?: number;
}

interface Mutation {
  readonly object: KubernetesObject;
  /** On the monotonic clock. */
  readonly expiresAt: number;
}

interface Waiter {
  readonly written: KubernetesObject;
  readonly end: (caughtUp: boolean) => void;
}

const CAPACITY = 10_000;
/** Long after any watch that works has caught up. What is kept for longer is wrong: the server was set back. */
const TIME_TO_LIVE = 60_000;

/**
 * An informer lags behind the writer's own writes by some milliseconds. A reconciler that reads between its write and
 * the write's event would write the same again. This is the informer's memory with what was written laid over it, by
 * key, UID and resourceVersion (client-go, tools/cache MutationCache).
 *
 * What was written is shown until the informer has it or something newer, has seen the deletion of its UID, or has
 * passed its version without it. Versions are compared as numbers (KEP-5504); one that is none is never shown.
 */
export class MutationCache implements Lister {
  readonly #informer: SharedInformer;
  readonly #lister: Lister;
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #registration: HandlerRegistration;
  readonly #indices = new Map<string, IndexValues>();
  /** By {@link objectKey}, oldest first. */
  readonly #mutations = new Map<string, Mutation>();
  readonly #waiters = new Set<Waiter>();

  constructor({ informer, clock, capacity = CAPACITY }: MutationCacheOptions) {
    this.#informer = informer;
    this.#lister = informer.lister;
    this.#clock = clock;
    this.#capacity = capacity;
    this.#registration = informer.addHandler({
      onAdd: (object) => this.#told(object),
      onUpdate: (_, object) => this.#told(object),
      onDelete: (last) => this.#deleted(last),
    });
  }

  /** The newer of what the informer has and what was written. */
  get(key: string): KubernetesObject | undefined {
    const cached = this.#lister.get(key);
    const mutation = this.#mutations.get(key);
    if (mutation === undefined) return cached;
    if (this.#clock.monotonic() < mutation.expiresAt && this.#isAhead(mutation.object, cached)) return mutation.object;
    this.#mutations.delete(key);
    return cached;
  }

  list(): readonly KubernetesObject[] {
    return this.#overlay(this.#lister.list(), () => true);
  }

  byIndex(index: string, value: string): readonly KubernetesObject[] {
    const values = this.#indices.get(index);
    if (values === undefined) throw new TypeError(`there is no index ${index}`);
    return this.#overlay(this.#lister.byIndex(index, value), (object) => values(object).includes(value));
  }

  /** Adds an index to the informer, if it is not there yet, and to what was written. */
  addIndex(name: string, values: IndexValues): void {
    this.#informer.addIndex(name, values);
    this.#indices.set(name, values);
  }

  /** Keeps what an API server answered to a write. */
  remember(object: KubernetesObject): void {
    const key = objectKey(object);
    if (!this.#isAhead(object, this.get(key))) return;
    this.#mutations.delete(key);
    this.#mutations.set(key, { object, expiresAt: this.#clock.monotonic() + TIME_TO_LIVE });
    const oldest = this.#mutations.keys().next();
    if (this.#mutations.size > this.#capacity && oldest.done === false) this.#mutations.delete(oldest.value);
  }

  /** How many written objects are kept: of those, the informer was not seen to have caught up. */
  get size(): number {
    return this.#mutations.size;
  }

  /**
   * Waits until the informer has what was written, something newer, or has seen that it is gone.
   * @param timeout milliseconds
   * @returns whether it has; false when the time is up, the signal aborts or the cache is closed
   */
  async waitFor(written: KubernetesObject, timeout: number, signal?: AbortSignal): Promise<boolean> {
    if (!this.#isAhead(written, this.#lister.get(objectKey(written)))) return true;
    if (signal?.aborted === true) return false;
    const { promise, resolve: end } = Promise.withResolvers<boolean>();
    const giveUp = (): void => end(false);
    const waiter = { written, end };
    this.#waiters.add(waiter);
    const cancel = this.#clock.after(timeout, giveUp);
    signal?.addEventListener('abort', giveUp, { once: true });
    const caughtUp = await promise;
    this.#waiters.delete(waiter);
    cancel();
    signal?.removeEventListener('abort', giveUp);
    return caughtUp;
  }

  /** Listens no longer, and forgets what was written. */
  close(): void {
    this.#registration.remove();
    this.#mutations.clear();
    for (const { end } of this.#waiters) end(false);
  }

  #told(object: KubernetesObject): void {
    const key = objectKey(object);
    const mutation = this.#mutations.get(key)?.object;
    if (mutation?.metadata.uid === object.metadata.uid && mutation && !isNewer(mutation, object)) {
      this.#mutations.delete(key);
    }
    // Events come in the order of their versions: what is older has been told.
    for (const { written, end } of this.#waiters) if (!isNewer(written, object)) end(true);
  }

  /** No comparison of versions: `last` may be a state from before the write. The UID is gone for good. */
  #deleted(last: KubernetesObject): void {
    const key = objectKey(last);
    const { uid } = last.metadata;
    if (this.#mutations.get(key)?.object.metadata.uid === uid) this.#mutations.delete(key);
    for (const { written, end } of this.#waiters) {
      if (written.metadata.uid === uid || !isNewer(written, last)) end(true);
    }
  }

  /** The informer has not come to this version yet. When it has, it is right, also in not having the object. */
  #isAhead(written: KubernetesObject, cached: KubernetesObject | undefined): boolean {
    if (cached !== undefined && !isNewer(written, cached)) return false;
    const reached = this.#informer.resourceVersion();
    return reached === undefined || isLater(written.metadata.resourceVersion, reached);
  }

  /** What is cached, each in its newest state, and what was created. */
  #overlay(
    cached: readonly KubernetesObject[],
    isIncluded: (object: KubernetesObject) => boolean,
  ): readonly KubernetesObject[] {
    if (this.#mutations.size === 0) return cached;
    const found = new Map(cached.map((object) => [objectKey(object), object]));
    for (const key of this.#mutations.keys()) {
      const newest = this.get(key);
      if (newest !== undefined && isIncluded(newest)) found.set(key, newest);
      else found.delete(key);
    }
    return [...found.values()];
  }
}

function isNewer(a: KubernetesObject, b: KubernetesObject): boolean {
  return isLater(a.metadata.resourceVersion, b.metadata.resourceVersion);
}

function isLater(a: string | undefined, b: string | undefined): boolean {
  const order = compareResourceVersions(a ?? '', b ?? '');
  return order !== undefined && order > 0;
}
