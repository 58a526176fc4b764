import { describe, expect, it } from 'vitest';
import type { KubernetesObject, ObjectMeta, OwnerReference } from '../kernel/index.ts';
import { AlreadyOwnedError, InvalidOwnerError, controllerOf, withControllerReference } from './owner-references.ts';

function deployment(metadata: ObjectMeta = {}): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', ...metadata },
  };
}

function configMap(metadata: ObjectMeta = {}): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'shop', ...metadata } };
}

const reference: OwnerReference = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: 'web',
  uid: 'u1',
  controller: true,
  blockOwnerDeletion: true,
};
const other: OwnerReference = { apiVersion: 'v1', kind: 'Secret', name: 'key', uid: 'u9' };

function ownersAfter(object: KubernetesObject, owner = deployment()): readonly OwnerReference[] | undefined {
  return withControllerReference(object, owner).metadata.ownerReferences;
}

// controller-runtime, pkg/controller/controllerutil/controllerutil_test.go: SetControllerReference.
describe('a controller reference', () => {
  it('is added, and leaves the object that was given as it was', () => {
    const object = configMap();
    expect(ownersAfter(object)).toEqual([reference]);
    expect(object.metadata.ownerReferences).toBeUndefined();
  });

  it('lets the owner go before the object when that is asked for', () => {
    const { metadata } = withControllerReference(configMap(), deployment(), { blockOwnerDeletion: false });
    expect(metadata.ownerReferences).toEqual([{ ...reference, blockOwnerDeletion: false }]);
  });

  it('is added to the references of others', () => {
    expect(ownersAfter(configMap({ ownerReferences: [other] }))).toEqual([other, reference]);
  });

  it.each<[string, Partial<OwnerReference>]>([
    ['is there already', {}],
    ['does not say that it controls', { controller: false }],
    ['is of another version of the kind', { apiVersion: 'apps/v1beta1' }],
    ['is of a predecessor of the same name', { uid: 'u0' }],
  ])('takes the place of a reference that %s', (_, difference) => {
    const ownerReferences = [{ ...reference, ...difference }, other];
    expect(ownersAfter(configMap({ ownerReferences }))).toEqual([reference, other]);
  });

  it.each<[string, Partial<OwnerReference>]>([
    ['another name', { name: 'api' }],
    ['another kind', { kind: 'StatefulSet' }],
    ['the same kind of another group', { apiVersion: 'example.com/v1' }],
  ])('is refused when an object of %s controls it', (_, difference) => {
    const object = configMap({ ownerReferences: [{ ...reference, ...difference }] });
    expect(() => withControllerReference(object, deployment())).toThrow(AlreadyOwnedError);
  });

  it('is refused from an owner in another namespace', () => {
    expect(() => ownersAfter(configMap({ namespace: 'bank' }))).toThrow(InvalidOwnerError);
  });

  it('is refused from an owner in a namespace to an object in none', () => {
    expect(() => ownersAfter(configMap({ namespace: '' }))).toThrow(/cluster-scoped/);
  });

  it('may be to a cluster-scoped owner, whatever the namespace', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', uid: 'u1' } };
    expect(ownersAfter(configMap(), owner)).toEqual([reference]);
    expect(ownersAfter(configMap({ namespace: '' }), owner)).toEqual([reference]);
  });
});

describe('the controlling owner', () => {
  it('is the one that says so', () => {
    expect(controllerOf(configMap({ ownerReferences: [other, reference] }))).toBe(reference);
    expect(controllerOf(configMap({ ownerReferences: [other] }))).toBeUndefined();
    expect(controllerOf(configMap())).toBeUndefined();
  });
});
