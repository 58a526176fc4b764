import { describe, expect, it } from 'vitest';
import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import { ApplyMemory } from './apply-memory.ts';
import type { ObjectMemory } from './apply-memory.ts';
import type { TakenField } from './leaf-verdict.ts';

const MINUTE = 60_000;
let now = 0;
let conflicts = 0;

const ours: ManagedFieldsEntry = {
  manager: 'atoll',
  operation: 'Apply',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsV1: { 'f:data': { 'f:a': {} } },
};

function live(data: Record<string, string> = { a: '1' }, more: readonly ManagedFieldsEntry[] = []): KubernetesObject {
  const metadata = { name: 'it', namespace: 'shop', uid: 'u', managedFields: [ours, ...more] };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

function memoryOf(uid: string | undefined = 'u', hash = 'h'): ObjectMemory {
  now = 0;
  conflicts = 0;
  const memory = new ApplyMemory({ now: () => now, onConflict: () => (conflicts += 1) }).of(live());
  memory.turnTo(uid, hash);
  return memory;
}

function takenField(why: TakenField['why'], value = 'x'): TakenField {
  return { path: '.data.a', live: value, manager: 'm', why };
}

describe('a field that goes back and forth', () => {
  it.each<[TakenField['why'], number]>([
    ['drift', 3],
    ['removed', 2],
    ['rewritten', 2],
    ['forced', 2],
  ])('taken back for %s, is left after %i rounds', (why, rounds) => {
    const memory = memoryOf();
    for (let round = 1; round <= rounds; round += 1) {
      expect(memory.isFlipping('.data.a', 'x')).toBe(false);
      memory.applied([takenField(why)], []);
      now += MINUTE;
    }
    expect(memory.isFlipping('.data.a', 'x')).toBe(true);
    expect(memory.isFlipping('.data.a', 'y')).toBe(false);
    expect(memory.isFlipping('.data.b', 'x')).toBe(false);
    now += 1000 * MINUTE;
    expect(memory.isFlipping('.data.a', 'x')).toBe(true);
    memory.turnTo('u', 'another state');
    expect(memory.isFlipping('.data.a', 'x')).toBe(false);
  });

  it('is none when it gets another value each time, or only now and then', () => {
    const memory = memoryOf();
    for (const value of ['x', 'y', 'z', 'x', 'y']) memory.applied([takenField('removed', value)], []);
    expect(['x', 'y', 'z'].some((value) => memory.isFlipping('.data.a', value))).toBe(false);
    for (let round = 0; round < 5; round += 1) {
      memory.applied([takenField('removed')], []);
      now += 11 * MINUTE;
    }
    expect(memory.isFlipping('.data.a', 'x')).toBe(false);
  });
});

describe('what comes out so whenever it is applied', () => {
  it('is, at first sight, a field of ours with another value', () => {
    const memory = memoryOf();
    expect(memory.isUsual(takenField('rewritten'))).toBe(true);
    expect(memory.isUsual(takenField('removed'))).toBe(false);
    expect(memory.isUsual(takenField('drift'))).toBe(false);
    memory.settle(live(), 'atoll', { left: [], rewritten: [takenField('rewritten')] });
    expect(memory.isUsual(takenField('rewritten'))).toBe(true);
    expect(memory.isUsual(takenField('rewritten', 'another'))).toBe(false);
  });

  it('is what our last apply did not bring about', () => {
    const memory = memoryOf();
    memory.applied([], [takenField('removed')]);
    expect(memory.isUsual(takenField('removed'))).toBe(true);
    expect(memory.isUsual(takenField('removed', 'another'))).toBe(false);
    memory.applied([], []);
    expect(memory.isUsual(takenField('removed'))).toBe(false);
  });
});

describe('an object with which nothing was to be done', () => {
  const none = { left: [], rewritten: [] };
  const other = {
    manager: 'x',
    operation: 'Update' as const,
    apiVersion: 'v1',
    time: 't',
    fieldsV1: { 'f:data': { 'f:b': {} } },
  };

  it.each<[string, boolean, KubernetesObject]>([
    ['is as it was while only others’ values change', true, live({ a: '1', b: '2' })],
    ['is another when a value of ours changes', false, live({ a: '2' })],
    ['is another when somebody comes to own something', false, live({ a: '1', b: '2' }, [other])],
    [
      'is another when it is being deleted',
      false,
      { ...live(), metadata: { ...live().metadata, deletionTimestamp: 't' } },
    ],
    [
      'is as it was when only times change',
      true,
      { ...live(), metadata: { ...live().metadata, managedFields: [{ ...ours, time: 'later' }] } },
    ],
  ])('%s', (_, same, object) => {
    const memory = memoryOf();
    memory.settle(live(), 'atoll', none);
    expect(memory.settled(object, 'atoll') !== undefined).toBe(same);
  });

  it('is looked at again after a write, and while a field goes back and forth', () => {
    const memory = memoryOf();
    memory.settle(live(), 'atoll', none);
    memory.applied([], []);
    expect(memory.settled(live(), 'atoll')).toBeUndefined();
    memory.settle(live(), 'atoll', { left: [{ path: '.data.a', manager: '', why: 'flipping' }], rewritten: [] });
    expect(memory.settled(live(), 'atoll')).toBeUndefined();
  });
});

describe('what a server refused', () => {
  it('is taken for refused until something that counts changes, or its time is over', () => {
    const memory = memoryOf();
    const error = new Error('no');
    memory.refused(live(), error, MINUTE);
    const status = { manager: 'x', operation: 'Update' as const, subresource: 'status', time: 't', fieldsV1: {} };
    expect(memory.refusalOf(live({ a: '1' }, [status]))).toBe(error);
    expect(memory.refusalOf(live({ a: '1' }, [{ ...status, subresource: '' }]))).toBeUndefined();
    expect(memory.refusalOf({ ...live(), metadata: { ...live().metadata, generation: 2 } })).toBeUndefined();
    now = MINUTE;
    expect(memory.refusalOf(live())).toBeUndefined();
  });

  it('is forgotten with another desired state', () => {
    const memory = memoryOf(undefined);
    memory.refused(undefined, new Error('no'), MINUTE);
    expect(memory.refusalOf(undefined)).toBeDefined();
    memory.turnTo(undefined, 'another');
    expect(memory.refusalOf(undefined)).toBeUndefined();
  });

  it('is kept as conflicts as long as nobody writes', () => {
    const memory = memoryOf();
    const conflict = { manager: 'rival', path: '.data.a' };
    memory.noteConflicts(live(), [conflict]);
    expect([memory.conflictsOf(live()), conflicts]).toEqual([[conflict], 1]);
    expect(memory.conflictsOf(live({ a: '1' }, [{ ...ours, manager: 'x' }]))).toEqual([]);
  });
});

describe('the first write', () => {
  it('is over with an apply that was taken, and comes again with another object', () => {
    const memory = memoryOf();
    expect(memory.isFirstWrite).toBe(true);
    memory.applied([], []);
    memory.turnTo('u', 'another state');
    expect(memory.isFirstWrite).toBe(false);
    memory.turnTo('another object', 'another state');
    expect(memory.isFirstWrite).toBe(true);
  });
});

it('fields that are left are news once', () => {
  const memory = memoryOf();
  const field = { path: '.data.a', manager: 'x', why: 'controller' as const };
  expect(memory.noteLeft([field])).toEqual([field]);
  expect(memory.noteLeft([field])).toEqual([]);
  expect(memory.noteLeft([{ ...field, manager: 'y' }])).toHaveLength(1);
});
