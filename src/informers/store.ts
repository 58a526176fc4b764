import { objectKey } from '../kernel/index.ts';
import type { KubernetesObject, Logger } from '../kernel/index.ts';
import type { Lister } from './shared-informer.ts';

/** Answers under which values an object is to be found. */
export type IndexValues = (object: KubernetesObject) => readonly string[];

/** What a replacement of the whole content changed, in the order in which it is to be told. */
export interface StoreChange {
  readonly previous?: KubernetesObject;
  readonly current?: KubernetesObject;
}

/** One index: value → keys of the objects that have it. Values without objects are not kept. */
class Index {
  readonly values: IndexValues;
  readonly #keys = new Map<string, Set<string>>();

  constructor(values: IndexValues) {
    this.values = values;
  }

  keys(value: string): Iterable<string> {
    return this.#keys.get(value) ?? [];
  }

  add(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys) keys.add(key);
    else this.#keys.set(value, new Set([key]));
  }

  remove(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys?.delete(key) === true && keys.size === 0) this.#keys.delete(value);
  }
}

/** The objects of an informer by key, with indices. Objects are frozen when they come in. */
export class Store implements Lister {
  readonly #logger: Logger;
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #indices = new Map<string, Index>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get(key: string): KubernetesObject | undefined {
    return this.#objects.get(key);
  }

  list(): readonly KubernetesObject[] {
    return [...this.#objects.values()];
  }

  byIndex(index: string, value: string): readonly KubernetesObject[] {
    const found = this.#indices.get(index);
    if (!found) throw new Error(`there is no index ${index}`);
    const objects: KubernetesObject[] = [];
    for (const key of found.keys(value)) {
      const object = this.#objects.get(key);
      if (object) objects.push(object);
    }
    return objects;
  }

  /** Adds an index over what is there and what comes. @throws when the name is taken by another function */
  addIndex(name: string, values: IndexValues): void {
    const existing = this.#indices.get(name);
    if (existing?.values === values) return;
    if (existing) throw new Error(`there is an index ${name} already, with another function`);
    const index = new Index(values);
    this.#indices.set(name, index);
    for (const [key, object] of this.#objects) {
      for (const value of this.#valuesOf(name, index, object)) index.add(value, key);
    }
  }

  /** Puts an object in, and answers what was in its place. */
  set(object: KubernetesObject): KubernetesObject | undefined {
    const key = objectKey(object);
    const previous = this.delete(key);
    this.#objects.set(key, freeze(object));
    for (const [name, index] of this.#indices) {
      for (const value of this.#valuesOf(name, index, object)) index.add(value, key);
    }
    return previous;
  }

  /** Takes an object out and answers it. */
  delete(key: string): KubernetesObject | undefined {
    const previous = this.#objects.get(key);
    if (!previous) return undefined;
    this.#objects.delete(key);
    for (const [name, index] of this.#indices) {
      for (const value of this.#valuesOf(name, index, previous)) index.remove(value, key);
    }
    return previous;
  }

  /** Makes these the only objects, and answers what changed by it: deletions first, nothing for what is the same. */
  replace(objects: readonly KubernetesObject[]): readonly StoreChange[] {
    const changes: StoreChange[] = [];
    const keys = new Set(objects.map(objectKey));
    for (const [key, previous] of this.#objects) {
      if (keys.has(key)) continue;
      this.delete(key);
      changes.push({ previous });
    }
    for (const current of objects) {
      const previous = this.get(objectKey(current));
      if (previous && isSame(previous, current)) continue;
      this.set(current);
      changes.push(previous ? { previous, current } : { current });
    }
    return changes;
  }

  /** An index function that cannot cope with an object must not stop the informer: the object goes unindexed. */
  #valuesOf(name: string, index: Index, object: KubernetesObject): readonly string[] {
    try {
      return index.values(object);
    } catch (error) {
      this.#logger.error('index function failed', { index: name, key: objectKey(object), error });
      return [];
    }
  }
}

function isSame({ metadata: a }: KubernetesObject, { metadata: b }: KubernetesObject): boolean {
  return a.uid === b.uid && a.resourceVersion !== undefined && a.resourceVersion === b.resourceVersion;
}

function freeze(object: KubernetesObject): KubernetesObject {
  Object.freeze(object.metadata);
  return Object.freeze(object);
}
