import { objectKey } from '../kernel/index.ts';
import type { KubernetesObject, Logger } from '../kernel/index.ts';
import type { IndexValues } from './shared-informer.ts';

/** One index: value → keys of the objects that have it. Values without objects are not kept. */
export class StoreIndex {
  readonly function: IndexValues;
  readonly #name: string;
  readonly #logger: Logger;
  readonly #keys = new Map<string, Set<string>>();

  constructor(name: string, values: IndexValues, logger: Logger) {
    this.#name = name;
    this.function = values;
    this.#logger = logger;
  }

  keys(value: string): Iterable<string> {
    return this.#keys.get(value) ?? [];
  }

  values(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** An object came, went or changed. */
  change(key: string, previous: KubernetesObject | undefined, current: KubernetesObject | undefined): void {
    const before = previous ? this.#valuesOf(previous) : [];
    const after = current ? this.#valuesOf(current) : [];
    for (const value of before) if (!after.includes(value)) this.#remove(value, key);
    for (const value of after) if (!before.includes(value)) this.#add(value, key);
  }

  #add(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys) keys.add(key);
    else this.#keys.set(value, new Set([key]));
  }

  #remove(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys?.delete(key) === true && keys.size === 0) this.#keys.delete(value);
  }

  /** An index function that cannot cope with an object must not stop the informer: the object goes unindexed. */
  #valuesOf(object: KubernetesObject): readonly string[] {
    try {
      return this.function(object);
    } catch (error) {
      this.#logger.error('index function failed', { index: this.#name, key: objectKey(object), error });
      return [];
    }
  }
}
