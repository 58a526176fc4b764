import { expect, test } from 'vitest';
import {
  and,
  annotationsChanged,
  generationChanged,
  labelSelector,
  labelsChanged,
  not,
  or,
  resourceVersionChanged,
  updatesWhere,
} from '../../src/controllers/index.ts';
import type { ObjectEvent, Predicate } from '../../src/controllers/index.ts';
import type { KubernetesObject, ObjectMeta } from '../../src/kernel/index.ts';

const pod = (metadata: ObjectMeta): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'biz', namespace: 'baz', ...metadata },
});
const created = (metadata: ObjectMeta = {}): ObjectEvent => ({
  type: 'create',
  object: pod(metadata),
  isInInitialList: false,
});
const deleted = (metadata: ObjectMeta = {}): ObjectEvent => ({ type: 'delete', object: pod(metadata) });
const updated = (previous: ObjectMeta, current: ObjectMeta): ObjectEvent => ({
  type: 'update',
  previous: pod(previous),
  object: pod(current),
});

/** Creations and deletions pass every predicate that is about changes. */
function expectOnlyUpdates(predicate: Predicate): void {
  expect(predicate(created())).toBe(true);
  expect(predicate(deleted())).toBe(true);
}

test('Predicate/Funcs/should call Create: what filters updates only lets creations pass', () => {
  expect(updatesWhere(() => false)(created())).toBe(true);
});

test('Predicate/Funcs/should call Update: with both states', () => {
  const asked: unknown[] = [];
  const predicate = updatesWhere((previous, current) => {
    asked.push(previous.metadata.uid, current.metadata.uid);
    return false;
  });
  expect(predicate(updated({ uid: 'old' }, { uid: 'new' }))).toBe(false);
  expect(asked).toEqual(['old', 'new']);
});

test('Predicate/Funcs/should call Delete: what filters updates only lets deletions pass', () => {
  expect(updatesWhere(() => false)(deleted())).toBe(true);
});

test.each([
  ["Predicate/ResourceVersionChanged/Where the ResourceVersion hasn't changed/should return false", '1', '1', false],
  ['Predicate/ResourceVersionChanged/Where the ResourceVersion has changed/should return true', '1', '2', true],
])('%s: and creations and deletions pass', (_name, before, after, expected) => {
  expect(resourceVersionChanged(updated({ resourceVersion: before }, { resourceVersion: after }))).toBe(expected);
  expectOnlyUpdates(resourceVersionChanged);
});

test.each([
  ["Predicate/GenerationChanged/Where the Generation hasn't changed/should return false", 1, 1, false],
  ['Predicate/GenerationChanged/Where the Generation has changed/should return true', 1, 2, true],
])('%s: whatever the resourceVersion, and creations and deletions pass', (_name, before, after, expected) => {
  const event = updated({ generation: before, resourceVersion: '1' }, { generation: after, resourceVersion: '2' });
  expect(generationChanged(event)).toBe(expected);
  expectOnlyUpdates(generationChanged);
});

test.each([
  ['Predicate/AnnotationChanged/Where the annotations are empty/should return false', {}, {}, false],
  [
    "Predicate/AnnotationChanged/Where the annotations haven't changed/should return false",
    { booz: 'wooz' },
    { booz: 'wooz' },
    false,
  ],
  [
    'Predicate/AnnotationChanged/Where an annotation value has changed/should return true',
    { booz: 'wooz' },
    { booz: 'weez' },
    true,
  ],
  [
    'Predicate/AnnotationChanged/Where an annotation has been added/should return true',
    { booz: 'wooz' },
    { booz: 'wooz', zooz: 'qooz' },
    true,
  ],
  [
    'Predicate/AnnotationChanged/Where an annotation has been removed/should return true',
    { booz: 'wooz', zooz: 'qooz' },
    { booz: 'wooz' },
    true,
  ],
] as const)('%s: and creations and deletions pass', (_name, before, after, expected) => {
  expect(annotationsChanged(updated({ annotations: before }, { annotations: after }))).toBe(expected);
  expectOnlyUpdates(annotationsChanged);
});

test.each([
  ['Predicate/LabelChanged/Where the labels are empty/should return false', {}, {}, false],
  [
    "Predicate/LabelChanged/Where the labels haven't changed/should return false",
    { foo: 'bar' },
    { foo: 'bar' },
    false,
  ],
  ['Predicate/LabelChanged/Where a label value has changed/should return true', { foo: 'bar' }, { foo: 'bee' }, true],
  [
    'Predicate/LabelChanged/Where a label has been added/should return true',
    { foo: 'bar' },
    { foo: 'bar', faa: 'bor' },
    true,
  ],
  [
    'Predicate/LabelChanged/Where a label has been removed/should return true',
    { foo: 'bar', faa: 'bor' },
    { foo: 'bar' },
    true,
  ],
] as const)('%s: and creations and deletions pass', (_name, before, after, expected) => {
  expect(labelsChanged(updated({ labels: before }, { labels: after }))).toBe(expected);
  expectOnlyUpdates(labelsChanged);
});

const yes: Predicate = () => true;
const no: Predicate = () => false;

test.each([
  [
    'Predicate/With a boolean predicate/And/should return false when one of its predicates returns false',
    and(yes, no),
    false,
  ],
  [
    'Predicate/With a boolean predicate/And/should return true when all of its predicates return true',
    and(yes, yes),
    true,
  ],
  [
    'Predicate/With a boolean predicate/Or/should return true when one of its predicates returns true',
    or(no, yes),
    true,
  ],
  [
    'Predicate/With a boolean predicate/Or/should return false when all of its predicates return false',
    or(no, no),
    false,
  ],
  ['Predicate/With a boolean predicate/Not/should return false when its predicate returns true', not(yes), false],
  ['Predicate/With a boolean predicate/Not/should return true when its predicate returns false', not(no), true],
] as const)('%s: of every type of event', (_name, predicate, expected) => {
  for (const event of [created(), updated({}, {}), deleted()]) expect(predicate(event)).toBe(expected);
});

const inBaz: Predicate = ({ object }) => object.metadata.namespace === 'baz';

test.each([
  [
    'Predicate/NewPredicateFuncs with a namespace filter function/Where the namespace is matching/should return true',
    'baz',
    true,
  ],
  [
    'Predicate/NewPredicateFuncs with a namespace filter function/Where the namespace is not matching/should return false',
    'bar',
    false,
  ],
] as const)('%s: a predicate is a function of the event', (_name, namespace, expected) => {
  for (const event of [created({ namespace }), updated({}, { namespace }), deleted({ namespace })]) {
    expect(and(inBaz)(event)).toBe(expected);
  }
});

test.each([
  [
    'Predicate/LabelSelector/When the Selector does not match the event labels/should return false',
    { foo: 'bar' },
    false,
  ],
  ['Predicate/LabelSelector/When the Selector matches the event labels/should return true', { foo: 'baz' }, true],
] as const)('%s: of an update the new ones count', (_name, labels, expected) => {
  const predicate = labelSelector({ matchLabels: { foo: 'baz' } });
  for (const event of [created({ labels }), updated({ labels: { foo: 'other' } }, { labels }), deleted({ labels })]) {
    expect(predicate(event)).toBe(expected);
  }
});
