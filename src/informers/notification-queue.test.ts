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

test('whatever is drawn together, who is told it all knows in the end what there is', () => {
  const step = record({
    name: constantFrom('a', 'b', 'c'),
    what: constantFrom('set', 'delete', 'replace', 'take'),
  });
  assert(
    property(array(step, { maxLength: 60 }), integer({ min: 1, max: 5 }), (steps, capacity) => {
      const queue = new NotificationQueue(capacity);
      const server = new Map<string, KubernetesObject>();
      const view = new Map<string, KubernetesObject>();
      const take = (): void => {
        const next = queue.shift();
        if (next === undefined || typeof next === 'symbol') return;
        const { previous, current } = next;
        const name = (current ?? previous)?.metadata.name ?? '';
        // What is told to be there before is what was told last.
        expect(view.get(name)?.metadata.uid).toBe(previous?.metadata.uid);
        if (current === undefined) view.delete(name);
        else view.set(name, current);
      };
      let version = 0;
      for (const { name, what } of steps) {
        version += 1;
        const previous = server.get(name);
        if (what === 'take') take();
        else if (what === 'delete' && previous !== undefined) {
          server.delete(name);
          queue.add({ previous });
        } else if (what !== 'delete') {
          const uid = what === 'replace' || previous === undefined ? `uid-${version}` : previous.metadata.uid;
          const current = at(name, version, uid);
          server.set(name, current);
          queue.add({ ...(previous && { previous }), current });
        }
        expect(queue.size).toBeLessThanOrEqual(capacity + 3);
      }
      while (queue.size > 0) take();
      expect(view).toEqual(server);
    }),
  );
});
