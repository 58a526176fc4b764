import { expect, it } from 'vitest';
import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import { decisiveDigest, ownershipDigest } from './live-digest.ts';
import { fieldsText, managedFieldsReducer } from './reduced-managed-fields.ts';

const ours: ManagedFieldsEntry = {
  manager: 'atoll',
  operation: 'Apply',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { 'f:a': {} } },
};
const status: ManagedFieldsEntry = { ...ours, manager: 'x', operation: 'Update', subresource: 'status' };

function object(name: string): KubernetesObject {
  const metadata = { name, uid: name, managedFields: [ours, status] };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: '1' } };
}

it('an object with its managedFields reduced is printed, read and decided on as it was', () => {
  const reduced = managedFieldsReducer()(object('a'));
  expect(JSON.parse(JSON.stringify(reduced))).toEqual(object('a'));
  expect(reduced.metadata.managedFields?.[0]?.fieldsV1).toEqual(ours.fieldsV1);
  expect(ownershipDigest(reduced, 'atoll')).toBe(ownershipDigest(object('a'), 'atoll'));
  expect(decisiveDigest(reduced)).toBe(decisiveDigest(object('a')));
});

it('objects of one template share what they have in common, and reducing again changes nothing', () => {
  const reduce = managedFieldsReducer();
  const [a, b] = [reduce(object('a')), reduce(object('b'))].map(({ metadata }) => metadata.managedFields?.[0]);
  expect(a && Object.values(a).at(-1)).toBe(b && Object.values(b).at(-1));
  expect(a && fieldsText(a)).toBe(JSON.stringify(ours.fieldsV1));
  const once = reduce(object('a'));
  expect(reduce(once).metadata.managedFields?.[0]).toBe(once.metadata.managedFields?.[0]);
});

it('an object without managedFields stays what it is', () => {
  const bare = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  expect(managedFieldsReducer()(bare)).toBe(bare);
});
