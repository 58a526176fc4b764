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

type Entry = { notification: Notification } | typeof END_OF_INITIAL_LIST;

/**
 * What waits for a handler, in order. As long as there is room every notification is kept; beyond, one of an object that
 * has something waiting already is drawn together with that: first `previous`, last `current`, in the first's place.
 * So the queue holds at most its capacity and one entry per object, whatever a server sends.
 */
export class NotificationQueue {
  readonly #capacity: number;
  readonly #entries = new Set<Entry>();
  /** The last entry of each object. */
  readonly #latest = new Map<string, Exclude<Entry, symbol>>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether something waits for the object of this key. */
  has(key: string): boolean {
    return this.#latest.has(key);
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

  /** The handler has been told the initial list when it comes to this. */
  addEndOfInitialList(): void {
    this.#entries.add(END_OF_INITIAL_LIST);
  }

  /** Takes the first out. */
  shift(): Notification | typeof END_OF_INITIAL_LIST | undefined {
    const [entry] = this.#entries;
    if (entry === undefined) return undefined;
    this.#entries.delete(entry);
    if (typeof entry === 'symbol') return entry;
    const key = keyOf(entry.notification);
    if (this.#latest.get(key) === entry) this.#latest.delete(key);
    return entry.notification;
  }

  clear(): void {
    this.#entries.clear();
    this.#latest.clear();
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
