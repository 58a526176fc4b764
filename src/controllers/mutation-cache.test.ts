import { beforeEach, describe, expect, it } from 'vitest';
import { PlayedInformer } from '../../test/support/played-informers.ts';
import type { Clock, KubernetesObject } from '../kernel/index.ts';
import { MutationCache } from './mutation-cache.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const LABEL = 'label';

/** Time that stands still until it is moved. */
class HeldClock implements Clock {
  #now = 0;
  readonly #timers = new Map<() => void, number>();

  now = (): number => this.#now;
  monotonic = (): number => this.#now;
  sleep = (): Promise<void> => Promise.reject(new Error('nobody sleeps here'));

  after(milliseconds: number, callback: () => void): () => void {
    this.#timers.set(callback, this.#now + milliseconds);
    return () => void this.#timers.delete(callback);
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
    for (const [callback, at] of this.#timers) if (at <= this.#now && this.#timers.delete(callback)) callback();
  }

  get timers(): number {
    return this.#timers.size;
  }
}

let clock: HeldClock;
let informer: PlayedInformer;
let cache: MutationCache;

beforeEach(() => {
  clock = new HeldClock();
  informer = new PlayedInformer(CONFIG_MAP, {});
  cache = new MutationCache({ informer, clock });
  cache.addIndex(LABEL, ({ metadata }) => Object.values(metadata.labels ?? {}));
});

function object(resourceVersion: string, uid = 'u1', name = 'a'): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, uid, resourceVersion } };
}

function labelled(resourceVersion: string, value: string): KubernetesObject {
  const base = object(resourceVersion);
  return { ...base, metadata: { ...base.metadata, labels: { tier: value } } };
}

function versionOf(found: KubernetesObject | undefined): string | undefined {
  return found?.metadata.resourceVersion;
}

describe('what was written', () => {
  beforeEach(() => {
    informer.set(object('1'));
    informer.sync();
  });

  it('is shown until the informer has it', () => {
    const written = object('2');
    cache.remember(written);
    expect(cache.get('a')).toBe(written);
    const seen = object('2');
    informer.set(seen);
    expect(cache.get('a')).toBe(seen);
    expect(cache.size).toBe(0);
  });

  it('is compared by version as a number, also beyond 2^53', () => {
    informer.set(object('9007199254740993'));
    cache.remember(object('9007199254740992'));
    expect(versionOf(cache.get('a'))).toBe('9007199254740993');
    cache.remember(object('10000000000000000'));
    expect(versionOf(cache.get('a'))).toBe('10000000000000000');
  });

  it('is not shown when the informer had it, or something newer, before it was remembered', () => {
    informer.set(object('5'));
    cache.remember(object('4'));
    cache.remember(object('5'));
    expect(cache.size).toBe(0);
  });

  it('gives way to what was written later, not to what was written before', () => {
    cache.remember(object('4'));
    cache.remember(object('3'));
    expect(versionOf(cache.get('a'))).toBe('4');
    cache.remember(object('6'));
    expect(versionOf(cache.get('a'))).toBe('6');
  });

  it('is shown for a minute at most: a server that was set back never comes to its version', () => {
    cache.remember(object('2'));
    clock.advance(59_999);
    expect(versionOf(cache.get('a'))).toBe('2');
    clock.advance(1);
    expect(versionOf(cache.get('a'))).toBe('1');
  });

  it('is never shown when its version is no number', () => {
    cache.remember(object('opaque'));
    expect(versionOf(cache.get('a'))).toBe('1');
  });

  it('is kept of a bounded number of objects: the oldest goes first', () => {
    const small = new MutationCache({ informer, clock, capacity: 2 });
    for (const name of ['b', 'c', 'd']) small.remember(object('2', `u-${name}`, name));
    expect(['b', 'c', 'd'].map((name) => small.get(name)?.metadata.name)).toEqual([undefined, 'c', 'd']);
  });
});

// client-go, tools/cache/mutation_cache_test.go: TestMutationCacheOnAddOrUpdate. The informer tells of one state while
// its memory holds an older one, as when an event is told late.
describe('an object that the informer tells of', () => {
  it.each<[string, string, string, boolean]>([
    ['of the same version and UID clears what was written', '2', 'u1', true],
    ['of a newer version and the same UID clears it', '3', 'u1', true],
    ['of an older version and the same UID keeps it', '1', 'u1', false],
    ['of another UID keeps it', '2', 'other', false],
  ])('%s', (_, version, uid, isCleared) => {
    informer.set(object('1'));
    informer.sync();
    cache.remember(object('2'));
    informer.play((handler) => handler.onAdd?.(object(version, uid), false));
    expect(versionOf(cache.get('a'))).toBe(isCleared ? '1' : '2');
  });
});

// client-go, tools/cache/mutation_cache_test.go: TestMutationCacheOnDelete.
describe('a deletion that the informer tells of', () => {
  it.each<[string, string, string, boolean]>([
    ['of the same UID clears what was written', '2', 'u1', true],
    ['of the same UID clears it also as an older state', '1', 'u1', true],
    ['of another UID keeps it', '2', 'other', false],
  ])('%s', (_, version, uid, isCleared) => {
    informer.set(object('1'));
    informer.sync();
    cache.remember(object('2'));
    informer.play((handler) => handler.onDelete?.(object(version, uid), false));
    expect(versionOf(cache.get('a'))).toBe(isCleared ? '1' : '2');
  });
});

describe('an object that was created', () => {
  beforeEach(() => {
    informer.passed('1');
    informer.sync();
  });

  it('is found by name, in the list and by its indices, before the informer has it', () => {
    const created = labelled('2', 'prod');
    cache.remember(created);
    expect(cache.get('a')).toBe(created);
    expect(cache.list()).toEqual([created]);
    expect(cache.byIndex(LABEL, 'prod')).toEqual([created]);
    expect(cache.byIndex(LABEL, 'dev')).toEqual([]);
  });

  // client-go, tools/cache/mutation_cache_test.go: TestMutationCacheOnDeleteClearsStaleMutation.
  it('is gone when the informer tells of its deletion, and can be created again', () => {
    cache.remember(labelled('2', 'prod'));
    informer.delete(labelled('3', 'prod'));
    expect(cache.byIndex(LABEL, 'prod')).toEqual([]);
    expect(cache.get('a')).toBeUndefined();
  });

  it('is not brought back when the informer saw its end before the answer to its creation came', () => {
    informer.set(object('2'));
    informer.delete(object('3'));
    cache.remember(object('2'));
    expect(cache.get('a')).toBeUndefined();
  });

  it('is gone when the informer has passed its version without it: a list was taken after its end', () => {
    cache.remember(object('2'));
    informer.passed('9');
    expect(cache.get('a')).toBeUndefined();
    expect(cache.list()).toEqual([]);
  });

  it('takes the place of a predecessor that the informer still has', () => {
    informer.set(object('2', 'old'));
    const successor = object('4', 'new');
    cache.remember(successor);
    informer.delete(object('3', 'old'));
    expect(cache.get('a')).toBe(successor);
  });
});

describe('lists', () => {
  it('show each object in its newest state, once, and move it between the values of an index', () => {
    informer.set(labelled('1', 'dev'));
    informer.set(object('1', 'u2', 'b'));
    informer.sync();
    cache.remember(labelled('2', 'prod'));
    expect(cache.list().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)).toEqual(['a@2', 'b@1']);
    expect(cache.byIndex(LABEL, 'dev')).toEqual([]);
    expect(cache.byIndex(LABEL, 'prod').map(versionOf)).toEqual(['2']);
  });

  it('cannot be taken by an index that was not added', () => {
    expect(() => cache.byIndex('zone', 'a')).toThrow('there is no index zone');
  });
});

describe('waiting for a write', () => {
  beforeEach(() => {
    informer.set(object('1'));
    informer.sync();
  });

  it('ends at once when the informer has it, or has passed it', async () => {
    await expect(cache.waitFor(object('1'), 1000)).resolves.toBe(true);
    informer.passed('7');
    await expect(cache.waitFor(object('7'), 1000)).resolves.toBe(true);
  });

  it.each<[string, () => void]>([
    ['has it', () => informer.set(object('5'))],
    ['has a newer state', () => informer.set(object('6'))],
    ['tells of a newer event of another object', () => informer.set(object('6', 'u2', 'b'))],
    ['tells of its deletion', () => informer.delete(object('6'))],
    ['tells of its deletion by a state before the write', () => informer.delete(object('1'))],
  ])('ends when the informer %s', async (_, happens) => {
    const waiting = cache.waitFor(object('5'), 1000);
    informer.set(object('4'));
    informer.set(object('2', 'u3', 'c'));
    expect(clock.timers).toBe(1);
    happens();
    await expect(waiting).resolves.toBe(true);
    expect(clock.timers).toBe(0);
  });

  it('ends when the time is up', async () => {
    const waiting = cache.waitFor(object('5'), 1000);
    clock.advance(1000);
    await expect(waiting).resolves.toBe(false);
  });

  it('ends when it is not wanted any more', async () => {
    const abort = new AbortController();
    const waiting = cache.waitFor(object('5'), 1000, abort.signal);
    abort.abort();
    await expect(waiting).resolves.toBe(false);
    await expect(cache.waitFor(object('5'), 1000, abort.signal)).resolves.toBe(false);
    expect(clock.timers).toBe(0);
  });

  it('ends when the cache is closed, which then listens no longer', async () => {
    const waiting = cache.waitFor(object('5'), 1000);
    cache.close();
    await expect(waiting).resolves.toBe(false);
    expect(informer.handlers).toBe(0);
  });
});
