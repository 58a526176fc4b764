import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLogger, systemClock } from '../kernel/index.ts';
import type { Clock, KubernetesObject } from '../kernel/index.ts';
import { Listener } from './listener.ts';
import type { EventHandler } from './shared-informer.ts';

const error = vi.fn();
const counted = { onRemove: vi.fn(), onFailure: vi.fn(), onCoalesce: vi.fn() };

/** However slow the machine is, no stretch of work is over. */
const heldClock: Clock = { ...systemClock, monotonic: () => 0 };

function listen(handler: EventHandler, clock: Clock = heldClock): Listener {
  return new Listener({ handler, clock, logger: { ...silentLogger, error }, events: counted });
}

function object(name: string, uid = name): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, uid } };
}

/** A handler that is told one thing at a time and says when it is ready for the next. */
class SlowHandler implements EventHandler {
  readonly told: string[] = [];
  #ready: (error?: Error) => void = () => undefined;

  onAdd({ metadata }: KubernetesObject): Promise<void> {
    return this.#note(`add ${metadata.name}`);
  }

  onUpdate(_previous: KubernetesObject, { metadata }: KubernetesObject): Promise<void> {
    return this.#note(`update ${metadata.name}`);
  }

  onDelete({ metadata }: KubernetesObject): Promise<void> {
    return this.#note(`delete ${metadata.name}`);
  }

  async ready(failure?: Error): Promise<void> {
    this.#ready(failure);
    await new Promise(setImmediate);
  }

  #note(what: string): Promise<void> {
    this.told.push(what);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#ready = (failure) => (failure ? reject(failure) : resolve());
    return promise;
  }
}

beforeEach(() => void vi.clearAllMocks());
afterEach(() => void vi.useRealTimers());

describe('a handler that returns no promise', () => {
  test('is told at once', () => {
    const told: unknown[] = [];
    const listener = listen({ onAdd: ({ metadata }) => told.push(metadata.name) });
    listener.notify({ current: object('a') });
    listener.notify({ current: object('b') });
    expect(told).toEqual(['a', 'b']);
    expect(listener.backlog).toBe(0);
  });

  test('is told nothing while it is being told: what happens by its doing comes after', () => {
    const told: unknown[] = [];
    const listener: Listener = listen({
      onAdd: ({ metadata }) => {
        if (metadata.name === 'a') listener.notify({ current: object('b') });
        told.push(metadata.name);
      },
    });
    listener.notify({ current: object('a') });
    expect(told).toEqual(['a', 'b']);
  });

  test('that throws is told the next, each throw is counted, and a row of them logged once', () => {
    const told: unknown[] = [];
    const listener = listen({
      onAdd: ({ metadata }) => {
        told.push(metadata.name);
        if (metadata.name !== 'c') throw new Error('unforeseen');
      },
    });
    for (const name of ['a', 'b', 'c', 'd']) listener.notify({ current: object(name) });
    expect(told).toEqual(['a', 'b', 'c', 'd']);
    expect(counted.onFailure).toHaveBeenCalledTimes(3);
    expect(error.mock.calls.map(([, fields]) => fields.key)).toEqual(['a', 'd']);
  });

  test('is told much in stretches, in order, and what happens meanwhile comes after', async () => {
    let now = 0;
    const told: unknown[] = [];
    const clock = { ...systemClock, monotonic: () => now };
    const handler = ({ metadata }: KubernetesObject): void => {
      now += 3;
      told.push(metadata.name);
    };
    const listener = listen({ onAdd: handler, onDelete: handler }, clock);
    listener.begin(['a', 'b', 'c', 'd', 'e'].map((name) => object(name)));
    listener.endInitialList();
    listener.notify({ previous: object('x') });
    expect(told).toEqual(['a', 'b', 'c']);
    expect(listener.hasSynced()).toBe(false);
    await listener.synced;
    expect(told).toEqual(['a', 'b', 'c', 'd', 'e', 'x']);
  });
});

describe('a handler that returns a promise', () => {
  test('is told the next when that has settled', async () => {
    const handler = new SlowHandler();
    const listener = listen(handler);
    listener.notify({ current: object('a') });
    listener.notify({ previous: object('a'), current: object('a') });
    listener.notify({ previous: object('a') });
    expect(handler.told).toEqual(['add a']);
    expect(listener.backlog).toBe(2);
    await handler.ready();
    expect(handler.told).toEqual(['add a', 'update a']);
    await handler.ready();
    await handler.ready();
    expect(handler.told).toEqual(['add a', 'update a', 'delete a']);
    listener.notify({ current: object('b') });
    expect(handler.told).toHaveLength(4);
  });

  test('that rejects is told the next; it is counted and logged', async () => {
    const handler = new SlowHandler();
    const listener = listen(handler);
    listener.notify({ current: object('a') });
    listener.notify({ current: object('b') });
    await handler.ready(new Error('unforeseen'));
    expect(handler.told).toEqual(['add a', 'add b']);
    expect(counted.onFailure).toHaveBeenCalledOnce();
    expect(error).toHaveBeenCalledOnce();
  });

  test('is told the deletion of an object and the addition of its successor one after the other', async () => {
    const handler = new SlowHandler();
    listen(handler).notify({ previous: object('a', 'old'), current: object('a', 'new') });
    expect(handler.told).toEqual(['delete a']);
    await handler.ready();
    expect(handler.told).toEqual(['delete a', 'add a']);
  });

  test('and does not settle makes a flood of events wait in bounded room', () => {
    const handler = new SlowHandler();
    const listener = listen(handler);
    for (let version = 0; version < 5000; version += 1) {
      listener.notify({ previous: object(`object-${version % 10}`), current: object(`object-${version % 10}`) });
    }
    expect(listener.backlog).toBe(1000);
    expect(counted.onCoalesce).toHaveBeenCalledTimes(3999);
  });

  test('has synced when the last of the initial list has settled', async () => {
    const handler = new SlowHandler();
    const listener = listen(handler);
    listener.begin([object('a'), object('b')]);
    listener.endInitialList();
    await handler.ready();
    expect(listener.hasSynced()).toBe(false);
    await handler.ready();
    expect(listener.hasSynced()).toBe(true);
    await listener.synced;
  });
});

describe('removing', () => {
  test('while the handler is busy drops what waits, and happens once', async () => {
    const handler = new SlowHandler();
    const listener = listen(handler);
    listener.notify({ current: object('a') });
    listener.notify({ current: object('b') });
    listener.remove();
    listener.remove();
    expect(listener.backlog).toBe(0);
    await handler.ready();
    listener.notify({ current: object('c') });
    expect(handler.told).toEqual(['add a']);
    expect(counted.onRemove).toHaveBeenCalledOnce();
  });

  test('between a deletion and the addition of the successor leaves the addition untold', async () => {
    const handler = new SlowHandler();
    const listener = listen(handler);
    listener.notify({ previous: object('a', 'old'), current: object('a', 'new') });
    listener.remove();
    await handler.ready();
    expect(handler.told).toEqual(['delete a']);
  });

  test('by the handler itself ends a row of notifications', () => {
    const told: unknown[] = [];
    const listener: Listener = listen({
      onAdd: ({ metadata }) => {
        told.push(metadata.name);
        listener.remove();
      },
    });
    listener.begin([object('a'), object('b')]);
    expect(told).toEqual(['a']);
  });
});

describe('a resync', () => {
  test('tells each object as it is, but for those of which something waits', async () => {
    const handler = new SlowHandler();
    const listener = listen(handler);
    listener.notify({ current: object('a') });
    listener.notify({ previous: object('b') });
    listener.resync([object('a'), object('b')]);
    for (let round = 0; round < 3; round += 1) await handler.ready();
    expect(handler.told).toEqual(['add a', 'delete b', 'update a']);
  });
});
