import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../kernel/index.ts';
import { END_OF_INITIAL_LIST, NotificationQueue } from './notification-queue.ts';
import type { Notification } from './notification-queue.ts';

/** Version 1 of object "a" with UID "u" is `at('a', 1)`. */
function at(name: string, version: number, uid = 'u'): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, uid, resourceVersion: String(version) } };
}

function drain(queue: NotificationQueue): unknown[] {
  const all: unknown[] = [];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) all.push(next);
  return all;
}

const initial = (current: KubernetesObject): Notification => ({ current, isInInitialList: true });

describe('as long as there is room', () => {
  test('every notification is kept, in order', () => {
    const queue = new NotificationQueue(3);
    const notifications = [
      { current: at('a', 1) },
      { previous: at('a', 1), current: at('a', 2) },
      { previous: at('a', 2) },
    ];
    expect(notifications.map((notification) => queue.add(notification))).toEqual([false, false, false]);
    expect(drain(queue)).toEqual(notifications);
    expect(queue.size).toBe(0);
  });
});

describe('beyond', () => {
  test.each<[string, Notification, Notification, Notification | undefined]>([
    [
      'two changes are one, from the first previous to the last current',
      { previous: at('a', 1), current: at('a', 2) },
      { previous: at('a', 2), current: at('a', 3) },
      { previous: at('a', 1), current: at('a', 3) },
    ],
    [
      'an addition and a change are an addition',
      { current: at('a', 1) },
      { previous: at('a', 1), current: at('a', 2) },
      { current: at('a', 2) },
    ],
    [
      'an addition of the initial list stays one',
      initial(at('a', 1)),
      { previous: at('a', 1), current: at('a', 2) },
      initial(at('a', 2)),
    ],
    [
      'an object that took the place of one of the initial list was not there before',
      initial(at('a', 1)),
      { previous: at('a', 1), current: at('a', 2, 'other') },
      { current: at('a', 2, 'other') },
    ],
    ['an addition and a deletion are nothing', { current: at('a', 1) }, { previous: at('a', 1) }, undefined],
    [
      'a change and a deletion are a deletion of the last state',
      { previous: at('a', 1), current: at('a', 2) },
      { previous: at('a', 3) },
      { previous: at('a', 3) },
    ],
    [
      'that the last state is not known is not lost',
      { previous: at('a', 1), current: at('a', 2) },
      { previous: at('a', 2), isFinalStateUnknown: true },
      { previous: at('a', 2), isFinalStateUnknown: true },
    ],
    [
      'a deletion and an addition lead from the one object to the other',
      { previous: at('a', 1) },
      { current: at('a', 2, 'other') },
      { previous: at('a', 1), current: at('a', 2, 'other') },
    ],
    [
      'of an object and its successor, both gone, the one that was told is deleted',
      { previous: at('a', 1), current: at('a', 2, 'other') },
      { previous: at('a', 2, 'other') },
      { previous: at('a', 1), isFinalStateUnknown: true },
    ],
  ])('%s', (_behaviour, first, second, merged) => {
    const queue = new NotificationQueue(1);
    expect(queue.add(first)).toBe(false);
    expect(queue.add(second)).toBe(true);
    expect(drain(queue)).toEqual(merged === undefined ? [] : [merged]);
  });

  test('an object keeps the place of what waits already, and others are appended', () => {
    const queue = new NotificationQueue(2);
    queue.add({ current: at('a', 1) });
    queue.add({ current: at('b', 1) });
    queue.add({ current: at('c', 1) });
    queue.add({ previous: at('a', 1), current: at('a', 2) });
    expect(drain(queue)).toEqual([{ current: at('a', 2) }, { current: at('b', 1) }, { current: at('c', 1) }]);
  });

  test('what is drawn together is the last that waits of an object', () => {
    const queue = new NotificationQueue(2);
    queue.add({ current: at('a', 1) });
    queue.add({ previous: at('a', 1), current: at('a', 2) });
    queue.shift();
    queue.add({ current: at('b', 1) });
    expect(queue.add({ previous: at('a', 2), current: at('a', 3) })).toBe(true);
    expect(drain(queue)).toEqual([{ previous: at('a', 1), current: at('a', 3) }, { current: at('b', 1) }]);
  });

  test('objects that come and go leave nothing behind', () => {
    const queue = new NotificationQueue(1);
    queue.add({ current: at('first', 1) });
    for (let version = 0; version < 10_000; version += 1) {
      queue.add({ current: at(`object-${version}`, version) });
      queue.add({ previous: at(`object-${version}`, version) });
    }
    expect(queue.size).toBe(1);
  });

  test('what waits behind the initial list does not come before its end', () => {
    const queue = new NotificationQueue(1);
    queue.add(initial(at('a', 1)));
    queue.addEndOfInitialList();
    queue.add({ current: at('b', 1) });
    expect(drain(queue)).toEqual([initial(at('a', 1)), END_OF_INITIAL_LIST, { current: at('b', 1) }]);
  });
});

describe('many objects at once', () => {
  test('are told in their turn, before what comes later', () => {
    const queue = new NotificationQueue(1);
    queue.add({ current: at('x', 1) });
    queue.addInitialList([at('a', 1), at('b', 1)]);
    queue.addEndOfInitialList();
    queue.add({ previous: at('a', 1), current: at('a', 2) });
    expect(queue.size).toBe(4);
    expect(drain(queue)).toEqual([
      { current: at('x', 1) },
      initial(at('a', 1)),
      initial(at('b', 1)),
      END_OF_INITIAL_LIST,
      { previous: at('a', 1), current: at('a', 2) },
    ]);
  });

  test('are told again but for those of which something waits; once, however often it is asked', () => {
    const queue = new NotificationQueue(10);
    const b = at('b', 1);
    queue.add({ previous: at('a', 1), current: at('a', 2) });
    queue.addResync([at('a', 2), b]);
    queue.addResync([at('a', 2), b]);
    expect(drain(queue)).toEqual([
      { previous: at('a', 1), current: at('a', 2) },
      { previous: b, current: b },
    ]);
    queue.addResync([b]);
    expect(drain(queue)).toHaveLength(1);
  });

  test('that are dropped do not stand in the way of others', () => {
    const queue = new NotificationQueue(10);
    queue.addResync([at('a', 1), at('b', 1)]);
    queue.shift();
    queue.clear();
    expect(queue.shift()).toBeUndefined();
    queue.addResync([at('c', 1)]);
    expect(drain(queue)).toHaveLength(1);
  });
});

/** A server, and a handler that is told of it over a queue. */
class Told {
  readonly queue: NotificationQueue;
  readonly server = new Map<string, KubernetesObject>();
  readonly view = new Map<string, KubernetesObject>();
  #version = 0;

  constructor(capacity: number) {
    this.queue = new NotificationQueue(capacity);
  }

  set(name: string, isAnother: boolean): void {
    const previous = this.server.get(name);
    this.#version += 1;
    const uid = isAnother || previous === undefined ? `uid-${this.#version}` : previous.metadata.uid;
    const current = at(name, this.#version, uid);
    this.server.set(name, current);
    this.queue.add({ ...(previous && { previous }), current });
  }

  delete(name: string): void {
    const previous = this.server.get(name);
    if (previous === undefined) return;
    this.server.delete(name);
    this.queue.add({ previous });
  }

  take(): void {
    const next = this.queue.shift();
    if (next !== undefined && typeof next !== 'symbol') this.#see(next);
  }

  #see({ previous, current }: Notification): void {
    const { name = '' } = (current ?? previous)?.metadata ?? {};
    const known = this.view.get(name);
    expect(uidOf(known)).toBe(uidOf(previous));
    // What is told to have changed is what was told last; of what is gone, the last state may be news.
    if (uidOf(previous) === uidOf(current)) expect(known).toBe(previous);
    if (current === undefined) this.view.delete(name);
    else this.view.set(name, current);
  }
}

function uidOf(object: KubernetesObject | undefined): string | undefined {
  return object?.metadata.uid;
}

test('whatever is drawn together, who is told it all knows in the end what there is', () => {
  const name = constantFrom('a', 'b', 'c');
  const what = constantFrom('set', 'delete', 'replace', 'take', 'resync');
  assert(
    property(array(record({ name, what }), { maxLength: 60 }), integer({ min: 1, max: 5 }), (steps, capacity) => {
      const told = new Told(capacity);
      for (const step of steps) {
        if (step.what === 'take') told.take();
        else if (step.what === 'resync') told.queue.addResync([...told.server.values()]);
        else if (step.what === 'delete') told.delete(step.name);
        else told.set(step.name, step.what === 'replace');
        // The capacity, one entry per object, and the resync.
        expect(told.queue.size).toBeLessThanOrEqual(capacity + 3 + 1);
      }
      while (told.queue.size > 0) told.take();
      expect(told.view).toEqual(told.server);
    }),
    { numRuns: 500 },
  );
});
