import type { KubernetesObject } from '../kernel/index.ts';

/** How many written objects are remembered at most; the oldest goes first. */
const CAPACITY = 10_000;

/**
 * An informer lags behind the writer's own writes by a few milliseconds. A reconciler that reads between its write and
 * its event would write the same again; this overlay answers with the object as written until the informer has it.
 *
 * resourceVersions of one kind in one cluster are compared as integers (KEP-5504). An object that the informer does
 * not have at all is never answered from here, so that a deletion cannot be missed.
 */
export class ReadYourWrites {
  readonly #written = new Map<string, KubernetesObject>();

  /** Keeps what an API server answered to a write. */
  remember(object: KubernetesObject): void {
    const { uid } = object.metadata;
    if (uid === undefined) return;
    this.#written.delete(uid);
    this.#written.set(uid, object);
    const oldest = this.#written.keys().next();
    if (this.#written.size > CAPACITY && oldest.done === false) this.#written.delete(oldest.value);
  }

  /** The newer of the informer's object and what was written to the same object (by UID). */
  newest(cached: KubernetesObject | undefined): KubernetesObject | undefined {
    const uid = cached?.metadata.uid;
    if (cached === undefined || uid === undefined) return cached;
    const written = this.#written.get(uid);
    if (written === undefined) return cached;
    if (versionOf(written) > versionOf(cached)) return written;
    this.#written.delete(uid);
    return cached;
  }
}

function versionOf(object: KubernetesObject): bigint {
  const { resourceVersion = '' } = object.metadata;
  return /^\d+$/.test(resourceVersion) ? BigInt(resourceVersion) : 0n;
}
