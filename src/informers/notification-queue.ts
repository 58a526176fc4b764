import { objectKey } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';

/** A change of one object, as a handler is told of it: an addition has no `previous`, a deletion no `current`. */
export interface Notification {
  readonly previous?: KubernetesObject;
  readonly current?: KubernetesObject;
  /** An addition: the object was there before the handler. */
  readonly isInInitialList?: boolean;
  /** A deletion: `previous` is older than the deletion. */
  readonly isFinalStateUnknown?: boolean;
}

/** Stands in a queue behind the initial list. */
export const END_OF_INITIAL_LIST = Symbol('end of initial list');

/** Many objects of which the same is to be told, one notification each, made when it is their turn. */
interface Batch {
  readonly objects: Iterator<KubernetesObject>;
  readonly isInitialList: boolean;
}

interface Waiting {
  notification: Notification;
}

type Entry = Waiting | Batch | typeof END_OF_INITIAL_LIST;

/**
 * What waits for a handler, in order. As long as there is room every notification is kept; beyond, one of an object that
 * has something waiting already is drawn together with that: first `previous`, last `current`, in the first's place.
 * So the queue holds at most its capacity and one entry per object, whatever a server sends.
 */
export class NotificationQueue {
  readonly #capacity: number;
  readonly #entries = new Set<Entry>();
  /** Where the first entry is: a set finds it anew only by passing over all that were taken out. */
  #first: SetIterator<Entry> | undefined;
  /** What is under way of the batch whose turn it is. */
  #batch: Batch | undefined;
  /** The last entry of each object. */
  readonly #latest = new Map<string, Waiting>();
  #isResyncing = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many entries wait; all objects of an initial list or a resync are one. */
  get size(): number {
    return this.#entries.size + (this.#batch === undefined ? 0 : 1);
  }

  /** Puts a notification at the end, or into one that waits already: then it answers true. */
  add(notification: Notification): boolean {
    const key = keyOf(notification);
    const waiting = this.#entries.size >= this.#capacity ? this.#latest.get(key) : undefined;
    if (waiting === undefined) {
      const entry = { notification };
      this.#entries.add(entry);
      this.#latest.set(key, entry);
      return false;
    }
    const merged = merge(waiting.notification, notification);
    if (merged) waiting.notification = merged;
    else {
      this.#entries.delete(waiting);
      this.#latest.delete(key);
    }
    return true;
  }

  /** Adds what there was before the handler. */
  addInitialList(objects: readonly KubernetesObject[]): void {
    this.#entries.add({ objects: objects.values(), isInitialList: true });
  }

  /** The handler has been told the initial list when it comes to this. */
  addEndOfInitialList(): void {
    this.#entries.add(END_OF_INITIAL_LIST);
  }

  /** Adds all objects once more, but for those of which something waits, which tells them too; not while it waits itself. */
  addResync(objects: readonly KubernetesObject[]): void {
    if (this.#isResyncing) return;
    this.#isResyncing = true;
    const others = this.#latest.size === 0 ? objects : objects.filter((object) => !this.#latest.has(objectKey(object)));
    this.#entries.add({ objects: others.values(), isInitialList: false });
  }

  /** Takes the first out. */
  shift(): Notification | typeof END_OF_INITIAL_LIST | undefined {
    for (;;) {
      const ofBatch = this.#shiftBatch();
      if (ofBatch !== undefined) return ofBatch;
      const entry = this.#shiftEntry();
      if (entry === undefined || typeof entry === 'symbol') return entry;
      if ('objects' in entry) this.#batch = entry;
      else {
        const key = keyOf(entry.notification);
        if (this.#latest.get(key) === entry) this.#latest.delete(key);
        return entry.notification;
      }
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#latest.clear();
    this.#first = undefined;
    this.#batch = undefined;
    this.#isResyncing = false;
  }

  #shiftBatch(): Notification | undefined {
    if (this.#batch === undefined) return undefined;
    const { objects, isInitialList } = this.#batch;
    const { value: current, done } = objects.next();
    if (done !== true) return isInitialList ? { current, isInInitialList: true } : { previous: current, current };
    this.#batch = undefined;
    if (!isInitialList) this.#isResyncing = false;
    return undefined;
  }

  #shiftEntry(): Entry | undefined {
    this.#first ??= this.#entries.values();
    const { value: entry, done } = this.#first.next();
    if (done === true) {
      this.#first = undefined;
      return undefined;
    }
    this.#entries.delete(entry);
    return entry;
  }
}

/** One notification that tells what two of the same object tell; none when they tell nothing together. */
function merge(first: Notification, second: Notification): Notification | undefined {
  const { previous, isInInitialList } = first;
  const { current } = second;
  if (previous === undefined) {
    return (
      current && {
        current,
        ...(isInInitialList === true && isSameObject(first.current, current) && { isInInitialList }),
      }
    );
  }
  if (current !== undefined) return { previous, current };
  // Of an object that was replaced unseen by another of its name, which is gone as well, the first is what was told.
  if (!isSameObject(previous, second.previous)) return { previous, isFinalStateUnknown: true };
  return second;
}

function isSameObject(a: KubernetesObject | undefined, b: KubernetesObject | undefined): boolean {
  return a?.metadata.uid === b?.metadata.uid;
}

function keyOf({ previous, current = previous }: Notification): string {
  return current === undefined ? '' : objectKey(current);
}
