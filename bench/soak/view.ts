import { compareResourceVersions } from '../../src/informers/index.ts';
import type { EventHandler } from '../../src/informers/index.ts';
import { objectKey } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';

/** Which object at which version, by "namespace/name". */
export type Versions = Readonly<Record<string, string>>;

function versionOf({ metadata }: KubernetesObject): string {
  return `${metadata.uid ?? ''}@${metadata.resourceVersion ?? ''}`;
}

export function versionsOf(objects: readonly KubernetesObject[]): Versions {
  return Object.fromEntries(objects.map((object) => [objectKey(object), versionOf(object)]));
}

/**
 * What a handler knows by what it was told alone. Notes what it must never be told: an addition of what it has, a change
 * or a deletion of what it has not, another object under the same name as a change, an older version.
 */
export class View implements EventHandler {
  readonly violations: string[] = [];
  told = 0;
  readonly #known = new Map<string, KubernetesObject>();
  readonly #work: () => unknown;

  /** What `work` answers is given to the informer: a promise makes this a slow handler. */
  constructor(work: () => unknown) {
    this.#work = work;
  }

  onAdd(object: KubernetesObject): unknown {
    const key = objectKey(object);
    if (this.#known.has(key)) this.violations.push(`added again: ${key}`);
    return this.#take(key, object);
  }

  onUpdate(previous: KubernetesObject, current: KubernetesObject): unknown {
    const key = objectKey(current);
    const known = this.#known.get(key);
    if (!known) this.violations.push(`changed before it was added: ${key}`);
    else this.#check(key, known, current);
    if (known && versionOf(known) !== versionOf(previous)) this.violations.push(`changed from what it was not: ${key}`);
    return this.#take(key, current);
  }

  onDelete(last: KubernetesObject): unknown {
    const key = objectKey(last);
    if (!this.#known.delete(key)) this.violations.push(`deleted before it was added: ${key}`);
    this.told += 1;
    return this.#work();
  }

  versions(): Versions {
    return versionsOf([...this.#known.values()]);
  }

  #take(key: string, object: KubernetesObject): unknown {
    this.#known.set(key, object);
    this.told += 1;
    return this.#work();
  }

  #check(key: string, { metadata: known }: KubernetesObject, { metadata: current }: KubernetesObject): void {
    if (known.uid !== current.uid) this.violations.push(`became another object without a deletion: ${key}`);
    const older = compareResourceVersions(current.resourceVersion ?? '', known.resourceVersion ?? '');
    if (older !== undefined && older < 0) this.violations.push(`went back to an older version: ${key}`);
  }
}
