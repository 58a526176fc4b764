import { beforeEach, describe, expect, it } from 'vitest';
import { WaitingError } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { ForbiddenError, InvalidError, writeAs } from '../kubernetes/index.ts';
import type { JsonPatchOperation, KubernetesClient } from '../kubernetes/index.ts';
import { addFinalizer, containsFinalizer, removeFinalizer } from './finalizers.ts';

const NAME = 'example.com/cleanup';
const write = writeAs('tester', { guard: () => undefined });

/** What was sent, one patch each. */
let sent: (readonly JsonPatchOperation[])[];
let failure: Error | undefined;

const client: Pick<KubernetesClient, 'jsonPatch'> = {
  jsonPatch: (_, operations) => {
    sent.push(operations);
    return failure === undefined ? Promise.resolve(object(['as', 'written'])) : Promise.reject(failure);
  },
};

beforeEach(() => {
  sent = [];
  failure = undefined;
});

function object(finalizers?: readonly string[]): KubernetesObject {
  const metadata = {
    name: 'a',
    namespace: 'shop',
    resourceVersion: '7',
    ...(finalizers !== undefined && { finalizers }),
  };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

function patchTo(finalizers: readonly string[]): readonly JsonPatchOperation[] {
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/metadata/finalizers', value: finalizers },
  ];
}

// controller-runtime, pkg/controller/controllerutil/controllerutil_test.go: Finalizers.
describe('a finalizer', () => {
  it('is found where it is', () => {
    expect(containsFinalizer(object(['other', NAME]), NAME)).toBe(true);
    expect(containsFinalizer(object(['other']), NAME)).toBe(false);
    expect(containsFinalizer(object(), NAME)).toBe(false);
  });

  it.each<[string, string[] | undefined, string[]]>([
    ['is added to an object without any', undefined, [NAME]],
    ['is added after the others', ['b', 'a'], ['b', 'a', NAME]],
  ])('%s', async (_, before, after) => {
    await expect(addFinalizer(client, object(before), NAME, write)).resolves.toEqual(object(['as', 'written']));
    expect(sent).toEqual([patchTo(after)]);
  });

  it('that is there is not added again: nothing is sent', async () => {
    const there = object([NAME]);
    await expect(addFinalizer(client, there, NAME, write)).resolves.toBe(there);
    expect(sent).toEqual([]);
  });

  it('is removed, however often it is there, and the others keep their order', async () => {
    await removeFinalizer(client, object([NAME, 'b', NAME, 'a']), NAME, write);
    expect(sent).toEqual([patchTo(['b', 'a'])]);
  });

  it('that is not there is not removed: nothing is sent', async () => {
    const without = object(['other']);
    await expect(removeFinalizer(client, without, NAME, write)).resolves.toBe(without);
    expect(sent).toEqual([]);
  });
});

describe('an object that changed since it was read', () => {
  it('is to be looked at again', async () => {
    failure = new InvalidError('the test failed', []);
    await expect(addFinalizer(client, object(), NAME, write)).rejects.toThrow(WaitingError);
  });

  it.each([
    ['that it is forbidden', new ForbiddenError('no')],
    [
      'that the name of the finalizer is none',
      new InvalidError('no', [{ path: 'metadata.finalizers', reason: 'FieldValueInvalid', message: 'no name' }]),
    ],
  ])('is not what a refusal means which says %s', async (_, refusal) => {
    failure = refusal;
    await expect(addFinalizer(client, object(), NAME, write)).rejects.toBe(refusal);
  });
});
