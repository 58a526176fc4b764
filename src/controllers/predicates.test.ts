import { describe, expect, it } from 'vitest';
import type { KubernetesObject, ObjectMeta } from '../kernel/index.ts';
import type { ObjectEvent } from './object-event.ts';
import {
  and,
  annotationsChanged,
  deletions,
  generationChanged,
  labelSelector,
  labelsChanged,
  not,
  or,
  resourceVersionChanged,
  resyncs,
  updates,
} from './predicates.ts';
import type { Predicate } from './predicates.ts';

function object(metadata: ObjectMeta = {}): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'shop', ...metadata } };
}

function created(metadata: ObjectMeta = {}, isInInitialList = false): ObjectEvent {
  return { type: 'create', object: object(metadata), isInInitialList };
}

function updated(previous: ObjectMeta, current: ObjectMeta): ObjectEvent {
  return { type: 'update', previous: object(previous), object: object(current) };
}

function deleted(metadata: ObjectMeta = {}): ObjectEvent {
  return { type: 'delete', object: object(metadata) };
}

const always: Predicate = () => true;
const never: Predicate = () => false;

const filters: readonly [
  string,
  { readonly predicate: Predicate; readonly before: ObjectMeta } & Record<'different' | 'same', ObjectMeta>,
][] = [
  [
    'generationChanged',
    {
      predicate: generationChanged,
      before: { generation: 1 },
      different: { generation: 2 },
      same: { generation: 1, labels: { a: 'b' } },
    },
  ],
  [
    'resourceVersionChanged',
    {
      predicate: resourceVersionChanged,
      before: { resourceVersion: '1' },
      different: { resourceVersion: '2' },
      same: { resourceVersion: '1' },
    },
  ],
  [
    'labelsChanged',
    {
      predicate: labelsChanged,
      before: { labels: { a: '1' } },
      different: { labels: { a: '2' } },
      same: { labels: { a: '1' }, generation: 2 },
    },
  ],
  [
    'annotationsChanged',
    {
      predicate: annotationsChanged,
      before: { annotations: { a: '1' } },
      different: { annotations: { a: '2' } },
      same: { annotations: { a: '1' }, generation: 2 },
    },
  ],
];

// controller-runtime, pkg/predicate/predicate_test.go.
describe.each(filters)('%s', (_, { predicate, before, different, same }) => {
  it('lets an update of it pass', () => {
    expect(predicate(updated(before, different))).toBe(true);
  });

  it('lets no other update pass', () => {
    expect(predicate(updated(before, same))).toBe(false);
  });

  it('lets creations and deletions pass: it filters updates only', () => {
    expect([created(before), created(before, true), deleted(before)].map(predicate)).toEqual([true, true, true]);
  });
});

describe.each<[string, Predicate, 'labels' | 'annotations']>([
  ['labelsChanged', labelsChanged, 'labels'],
  ['annotationsChanged', annotationsChanged, 'annotations'],
])('%s', (_, predicate, field) => {
  it.each<[string, ObjectMeta[string], ObjectMeta[string], boolean]>([
    ['one that comes first', undefined, { a: '1' }, true],
    ['the last that goes', { a: '1' }, undefined, true],
    ['one that comes', { a: '1' }, { a: '1', b: '2' }, true],
    ['one that goes', { a: '1', b: '2' }, { a: '1' }, true],
    ['one that is renamed', { a: '1' }, { b: '1' }, true],
    ['one named as what every object inherits', { a: '1' }, { constructor: '1' }, true],
    ['none, and an empty map', undefined, {}, false],
    ['the same in another order', { a: '1', b: '2' }, { b: '2', a: '1' }, false],
  ])('judges %s', (__, previous, current, expected) => {
    expect(predicate(updated({ [field]: previous }, { [field]: current }))).toBe(expected);
  });
});

describe('generationChanged', () => {
  it('lets no update of a kind without generations pass', () => {
    expect(generationChanged(updated({ resourceVersion: '1' }, { resourceVersion: '2' }))).toBe(false);
  });
});

describe('labelSelector', () => {
  const selected = labelSelector({ matchLabels: { tier: 'prod' } });
  const prod = { labels: { tier: 'prod' } };
  const dev = { labels: { tier: 'dev' } };

  it.each<[string, ObjectEvent, boolean]>([
    ['a creation that matches passes', created(prod), true],
    ['a creation that does not match', created(dev), false],
    ['an object without labels', created(), false],
    ['a deletion that matches passes', deleted(prod), true],
    ['a deletion that does not match', deleted(dev), false],
    ['an update is judged by its new state: into the selection', updated(dev, prod), true],
    ['an update is judged by its new state: out of the selection', updated(prod, dev), false],
  ])('%s', (_, event, expected) => {
    expect(selected(event)).toBe(expected);
  });
});

describe('predicates by the type of an event', () => {
  const events = [created(), updated({}, { resourceVersion: '2' }), deleted()];

  it('tell updates and deletions from the rest', () => {
    expect(events.map(updates)).toEqual([false, true, false]);
    expect(events.map(deletions)).toEqual([false, false, true]);
  });

  it('know a resync by the same object, or the same version of it', () => {
    const same = object();
    expect(resyncs({ type: 'update', previous: same, object: same })).toBe(true);
    expect(resyncs(updated({ resourceVersion: '7' }, { resourceVersion: '7' }))).toBe(true);
    expect(resyncs(updated({ resourceVersion: '7' }, { resourceVersion: '8' }))).toBe(false);
    expect(resyncs(updated({}, { generation: 2 }))).toBe(false);
    expect(resyncs(created())).toBe(false);
  });
});

describe('combinations', () => {
  const event = created();

  it.each<[string, Predicate, boolean]>([
    ['and, of which all hold', and(always, always), true],
    ['and, of which one does not', and(always, never), false],
    ['and of nothing', and(), true],
    ['or, of which one holds', or(never, always), true],
    ['or, of which none does', or(never, never), false],
    ['or of nothing', or(), false],
    ['not', not(never), true],
    ['not not', not(always), false],
  ])('%s', (_, predicate, expected) => {
    expect(predicate(event)).toBe(expected);
  });

  it('ask no further than they must', () => {
    const fails: Predicate = () => {
      throw new Error('was asked');
    };
    expect(and(never, fails)(event)).toBe(false);
    expect(or(always, fails)(event)).toBe(true);
  });

  it('hold for each type of event by itself', () => {
    const changedLabels = and(updates, labelsChanged);
    expect([created(), deleted(), updated({}, { labels: { a: 'b' } })].map(changedLabels)).toEqual([
      false,
      false,
      true,
    ]);
    expect(not(labelsChanged)(created())).toBe(false);
    expect(not(labelsChanged)(updated({}, {}))).toBe(true);
  });
});
