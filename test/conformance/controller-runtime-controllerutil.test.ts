import { describe, expect, test } from 'vitest';
import {
  addFinalizer,
  AlreadyOwnedError,
  containsFinalizer,
  InvalidOwnerError,
  removeFinalizer,
  withControllerReference,
} from '../../src/controllers/index.ts';
import type { KubernetesObject, ObjectMeta, OwnerReference } from '../../src/kernel/index.ts';
import type { JsonPatchOperation, ObjectReference } from '../../src/kubernetes/index.ts';
import { asWriter } from './following.ts';

const replicaSet = (metadata: ObjectMeta = {}): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'rs', ...metadata },
});
const deployment = (metadata: ObjectMeta = {}, apiVersion = 'apps/v1'): KubernetesObject => ({
  apiVersion,
  kind: 'Deployment',
  metadata: { name: 'foo', uid: 'foo-uid', ...metadata },
});
const reference = (fields: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: 'foo',
  uid: 'foo-uid',
  controller: true,
  blockOwnerDeletion: true,
  ...fields,
});
const owners = (object: KubernetesObject): unknown => object.metadata.ownerReferences;

describe('SetControllerReference', () => {
  test('Controllerutil/SetControllerReference/should set the OwnerReference if it can find the group version kind: from the owner itself', () => {
    expect(owners(withControllerReference(replicaSet(), deployment()))).toEqual([reference()]);
  });

  test('Controllerutil/SetControllerReference/should return an error if object is already owned by another controller: of another name or kind', () => {
    const owned = replicaSet({ ownerReferences: [reference({ name: 'other', uid: 'other-uid' })] });
    expect(() => withControllerReference(owned, deployment())).toThrow(AlreadyOwnedError);
    const ofOtherGroup = replicaSet({ ownerReferences: [reference({ apiVersion: 'example.com/v1' })] });
    expect(() => withControllerReference(ofOtherGroup, deployment())).toThrow(AlreadyOwnedError);
  });

  test('Controllerutil/SetControllerReference/should not duplicate existing owner reference: it is one afterwards', () => {
    const once = withControllerReference(replicaSet(), deployment());
    expect(owners(withControllerReference(once, deployment()))).toEqual([reference()]);
  });

  test("Controllerutil/SetControllerReference/should replace the owner reference if it's already present: also when it was no controller's", () => {
    const other = reference({ name: 'bystander', uid: 'b', controller: false });
    const owned = replicaSet({ ownerReferences: [other, reference({ controller: false })] });
    expect(owners(withControllerReference(owned, deployment()))).toEqual([other, reference()]);
  });

  test("Controllerutil/SetControllerReference/should return an error if it's setting a cross-namespace owner reference: nothing is set", () => {
    const object = replicaSet({ namespace: 'namespace1' });
    expect(() => withControllerReference(object, deployment({ namespace: 'namespace2' }))).toThrow(InvalidOwnerError);
    expect(owners(object)).toBeUndefined();
  });

  test("Controllerutil/SetControllerReference/should return an error if it's owner is namespaced resource but dependant is cluster-scoped resource: and the reverse is fine", () => {
    expect(() => withControllerReference(replicaSet(), deployment({ namespace: 'namespace1' }))).toThrow(
      InvalidOwnerError,
    );
    expect(owners(withControllerReference(replicaSet({ namespace: 'namespace1' }), deployment()))).toEqual([
      reference(),
    ]);
  });

  test('Controllerutil/SetControllerReference/should not return any error if the existing owner has a different version: the new one is kept', () => {
    const owned = replicaSet({ ownerReferences: [reference({ apiVersion: 'apps/v1beta1' })] });
    expect(owners(withControllerReference(owned, deployment()))).toEqual([reference()]);
  });

  test('Controllerutil/SetControllerReference/should set the BlockOwnerDeletion if it is specified as an option: it is on otherwise', () => {
    const object = withControllerReference(replicaSet(), deployment(), { blockOwnerDeletion: false });
    expect(owners(object)).toEqual([reference({ blockOwnerDeletion: false })]);
  });
});

/** Notes the patches that would be sent. */
class PatchRecorder {
  readonly patches: (readonly JsonPatchOperation[])[] = [];

  async jsonPatch(_ref: ObjectReference, operations: readonly JsonPatchOperation[]): Promise<KubernetesObject> {
    this.patches.push(operations);
    const last = operations.at(-1);
    const finalizers = last && 'value' in last ? (last.value as string[]) : [];
    return deployment({ finalizers });
  }
}

const FINALIZER = 'foo.bar.baz';

describe('finalizers', () => {
  test.each([
    ['Controllerutil/Finalizers/AddFinalizer/should add the finalizer when not present'],
    [
      "Controllerutil/Finalizers/AddFinalizer/the object's list of finalizers has no instances of the input finalizer/should return true",
    ],
    [
      "Controllerutil/Finalizers/AddFinalizer/the object's list of finalizers has no instances of the input finalizer/should add the input finalizer to the object's list of finalizers",
    ],
  ])('%s: behind the others, tied to the version that was read', async () => {
    const client = new PatchRecorder();
    const object = deployment({ finalizers: ['first'], resourceVersion: '7' });
    const written = await addFinalizer(client, object, FINALIZER, asWriter);
    expect(written).not.toBe(object);
    expect(written.metadata.finalizers).toEqual(['first', FINALIZER]);
    expect(client.patches[0]?.[0]).toEqual({ op: 'test', path: '/metadata/resourceVersion', value: '7' });
  });

  test.each([
    ['Controllerutil/Finalizers/AddFinalizer/should not add the finalizer when already present'],
    [
      "Controllerutil/Finalizers/AddFinalizer/the object's list of finalizers has an instance of the input finalizer/should return false",
    ],
    [
      "Controllerutil/Finalizers/AddFinalizer/the object's list of finalizers has an instance of the input finalizer/should not modify the object's list of finalizers",
    ],
  ])('%s: nothing is sent', async () => {
    const client = new PatchRecorder();
    const object = deployment({ finalizers: [FINALIZER] });
    expect(await addFinalizer(client, object, FINALIZER, asWriter)).toBe(object);
    expect(client.patches).toEqual([]);
  });

  test.each([
    ['Controllerutil/Finalizers/RemoveFinalizer/should remove finalizer if present'],
    [
      "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has one instance of the input finalizer/should return true",
    ],
    [
      "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has one instance of the input finalizer/should remove the instance of the input finalizer from the object's list of finalizers",
    ],
  ])('%s: the others stay', async () => {
    const client = new PatchRecorder();
    const written = await removeFinalizer(
      client,
      deployment({ finalizers: ['a', FINALIZER, 'b'] }),
      FINALIZER,
      asWriter,
    );
    expect(written.metadata.finalizers).toEqual(['a', 'b']);
  });

  test.each([
    ['Controllerutil/Finalizers/RemoveFinalizer/should remove all equal finalizers if present'],
    [
      "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has multiple instances of the input finalizer/should return true",
    ],
    [
      "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has multiple instances of the input finalizer/should remove each instance of the input finalizer from the object's list of finalizers",
    ],
  ])('%s: however often it is there', async () => {
    const client = new PatchRecorder();
    const object = deployment({ finalizers: [FINALIZER, 'a', FINALIZER] });
    expect((await removeFinalizer(client, object, FINALIZER, asWriter)).metadata.finalizers).toEqual(['a']);
  });

  test.each([
    [
      "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has no instances of the input finalizer/should return false",
    ],
    [
      "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has no instances of the input finalizer/should not modify the object's list of finalizers",
    ],
  ])('%s: nothing is sent', async () => {
    const client = new PatchRecorder();
    const object = deployment({ finalizers: ['a'] });
    expect(await removeFinalizer(client, object, FINALIZER, asWriter)).toBe(object);
    expect(client.patches).toEqual([]);
  });

  test('Controllerutil/Finalizers/ContainsFinalizer/should check that finalizer is present: among others', () => {
    expect(containsFinalizer(deployment({ finalizers: ['a', FINALIZER] }), FINALIZER)).toBe(true);
  });

  test('Controllerutil/Finalizers/ContainsFinalizer/should check that finalizer is not present after RemoveFinalizer call: nor in an object without any', async () => {
    const client = new PatchRecorder();
    const written = await removeFinalizer(client, deployment({ finalizers: [FINALIZER] }), FINALIZER, asWriter);
    expect(containsFinalizer(written, FINALIZER)).toBe(false);
    expect(containsFinalizer(deployment(), FINALIZER)).toBe(false);
  });
});
