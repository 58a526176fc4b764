import { describe, expect, test } from 'vitest';
import { collectionPath, objectPath } from './resource-path.ts';
import type { Resource } from './resource.ts';
import { UnsendableError } from './unsendable-error.ts';

const POD: Resource = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  namespaced: true,
  verbs: [],
  subresources: [],
};
const ROLE: Resource = {
  ...POD,
  group: 'rbac.authorization.k8s.io',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};

test('paths of collections, objects and subresources', () => {
  expect(collectionPath(POD)).toBe('/api/v1/pods');
  expect(collectionPath(POD, 'shop')).toBe('/api/v1/namespaces/shop/pods');
  expect(collectionPath(ROLE)).toBe('/apis/rbac.authorization.k8s.io/v1/clusterroles');
  expect(objectPath(POD, { namespace: 'shop', name: 'web' }, 'eviction')).toBe(
    '/api/v1/namespaces/shop/pods/web/eviction',
  );
  expect(objectPath(ROLE, { namespace: '', name: 'system:Node Reader?' })).toBe(
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3ANode%20Reader%3F',
  );
});

describe('nothing is sent to another place than the one that is named', () => {
  test.each([
    ['a name that climbs', { namespace: 'shop', name: '..' }],
    ['a name with a slash', { namespace: 'shop', name: '../../nodes/x' }],
    ['a name that is escaped already', { namespace: 'shop', name: '%2e%2e' }],
    ['a namespace that climbs', { namespace: '../..', name: 'web' }],
    ['no name', { namespace: 'shop', name: '' }],
    ['no namespace where there has to be one', { name: 'web' }],
  ])('%s', (_behaviour, place) => {
    expect(() => objectPath(POD, place)).toThrow(UnsendableError);
  });

  test('a namespace where there is none', () => {
    expect(() => objectPath(ROLE, { namespace: 'shop', name: 'web' })).toThrow(UnsendableError);
  });
});
