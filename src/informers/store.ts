import { isDeepStrictEqual } from 'node:util';
import { objectKey } from '../kernel/index.ts';
import type { KubernetesObject, Logger, WorkStretch } from '../kernel/index.ts';
import { InformerStoppedError } from './informer-errors.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { Notification } from './notification-queue.ts';
import { objectSize } from './object-size.ts';
import type { IndexValues, Lister } from './shared-informer.ts';
import { StoreIndex } from './store-index.ts';
import { visitAll } from './visit-all.ts';

/** A change of the content. Sequence numbers grow by one with each. */
export interface StoreChange extends Notification {
  readonly sequence: number;
}

/** All objects that there are, by key. */
export interface Replacement {
  readonly objects: ReadonlyMap<string, KubernetesObject>;
  /** About how many bytes they take. */
  readonly size: number;
  /** Equal versions need not mean equal objects: the server went back in time, and then other ways. */
  readonly isRewound: boolean;
  /** The changes are those of the initial list. */
  readonly isInitial: boolean;
  /** A replacement of many objects lets others have their turn. */
  readonly stretch: WorkStretch;
}

/** Options of {@link Store}. */
export interface StoreOptions {
  readonly logger: Logger;
  readonly budget: MemoryBudget;
  /** Freezes an object that comes in. */
  readonly freeze: (object: KubernetesObject) => void;
}

/** The objects of an informer by key, with indices. Objects are frozen when they come in, and handed out as they are. */
export class Store implements Lister {
  readonly #options: StoreOptions;
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #indices = new Map<string, StoreIndex>();
  #sequence = 0;
  #size = 0;
  #isClosed = false;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  /** The number of the last change. */
  get sequence(): number {
    return this.#sequence;
  }

  /** How many objects there are. */
  get count(): number {
    return this.#objects.size;
  }

  /** About how many bytes they take. */
  get size(): number {
    return this.#size;
  }

  get(key: string): KubernetesObject | undefined {
    this.#assertOpen();
    return this.#objects.get(key);
  }

  list(): readonly KubernetesObject[] {
    this.#assertOpen();
    return [...this.#objects.values()];
  }

  byIndex(index: string, value: string): readonly KubernetesObject[] {
    this.#assertOpen();
    const objects: KubernetesObject[] = [];
    for (const key of this.#index(index).keys(value)) {
      const object = this.#objects.get(key);
      if (object) objects.push(object);
    }
    return objects;
  }

  indexKeys(index: string, value: string): readonly string[] {
    this.#assertOpen();
    return [...this.#index(index).keys(value)];
  }

  indexValues(index: string): readonly string[] {
    this.#assertOpen();
    return this.#index(index).values();
  }

  /** Adds an index over what is there and what comes. @throws when the name is taken by another function */
  addIndex(name: string, values: IndexValues): void {
    const existing = this.#indices.get(name);
    if (existing?.function === values) return;
    if (existing) throw new TypeError(`there is an index ${name} already, with another function`);
    const index = new StoreIndex(name, values, this.#options.logger);
    for (const [key, object] of this.#objects) index.change(key, undefined, object);
    this.#indices.set(name, index);
  }

  /** Puts an object in. Answers nothing when this very version is there already. @throws MemoryLimitError */
  set(object: KubernetesObject): StoreChange | undefined {
    const key = objectKey(object);
    const previous = this.#objects.get(key);
    if (this.#isClosed) return undefined;
    if (previous && isSameVersion(previous, object)) return undefined;
    const growth = objectSize(object) - (previous ? objectSize(previous) : 0);
    this.#options.budget.assertRoom(growth);
    this.#account(growth);
    return this.#put(key, object, previous);
  }

  /** Takes an object out; `last` is what it was when it was deleted, if that is known. */
  delete(key: string, last?: KubernetesObject): StoreChange | undefined {
    const previous = this.#objects.get(key);
    if (!previous) return undefined;
    this.#account(-objectSize(previous));
    return this.#take(key, previous, last);
  }

  /**
   * Makes these the only objects, and answers what changed by it: deletions first, nothing for what is the same. Readers
   * may see a part of it done.
   * @throws MemoryLimitError, having changed nothing
   */
  async replace({ objects, size, isRewound, isInitial, stretch }: Replacement): Promise<readonly StoreChange[]> {
    if (this.#isClosed) return [];
    this.#options.budget.assertRoom(size - this.#size);
    this.#account(size - this.#size);
    const changes: StoreChange[] = [];
    const gone = [...this.#objects].filter(([key]) => !objects.has(key));
    await visitAll(gone, stretch, ([key, previous]) => changes.push(this.#take(key, previous, undefined)));
    const isSame = isRewound ? isEqual : isSameVersion;
    await visitAll(objects, stretch, ([key, current]) => {
      const previous = this.#objects.get(key);
      if (this.#isClosed || (previous && isSame(previous, current))) return;
      const change = this.#put(key, current, previous);
      changes.push(isInitial ? { ...change, isInInitialList: true } : change);
    });
    return changes;
  }

  /** Lets go of everything. Reading from then on is an error: an empty answer would say that there is nothing. */
  close(): void {
    this.#isClosed = true;
    this.#account(-this.#size);
    this.#objects.clear();
    this.#indices.clear();
  }

  #put(key: string, object: KubernetesObject, previous: KubernetesObject | undefined): StoreChange {
    this.#options.freeze(object);
    this.#objects.set(key, object);
    for (const index of this.#indices.values()) index.change(key, previous, object);
    return { ...(previous && { previous }), current: object, sequence: this.#next() };
  }

  #take(key: string, previous: KubernetesObject, last: KubernetesObject | undefined): StoreChange {
    this.#objects.delete(key);
    for (const index of this.#indices.values()) index.change(key, previous, undefined);
    if (last === undefined || last.metadata.uid !== previous.metadata.uid) {
      return { previous, isFinalStateUnknown: true, sequence: this.#next() };
    }
    this.#options.freeze(last);
    return { previous: last, sequence: this.#next() };
  }

  #account(bytes: number): void {
    this.#size += bytes;
    this.#options.budget.add(bytes);
  }

  #next(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  #index(name: string): StoreIndex {
    const index = this.#indices.get(name);
    if (!index) throw new TypeError(`there is no index ${name}`);
    return index;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new InformerStoppedError('this informer was released and knows nothing any more');
  }
}

/** Objects that are too deep to be compared are taken for different: that is an update too many, and none too few. */
function isEqual(one: KubernetesObject, other: KubernetesObject): boolean {
  try {
    return isDeepStrictEqual(one, other);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function isSameVersion({ metadata: a }: KubernetesObject, { metadata: b }: KubernetesObject): boolean {
  return a.uid === b.uid && a.resourceVersion !== undefined && a.resourceVersion === b.resourceVersion;
}
