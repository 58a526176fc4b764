import { WaitingError } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { InvalidError, describeObject, referenceOf } from '../kubernetes/index.ts';
import type { KubernetesClient, WriteContext } from '../kubernetes/index.ts';

/** Whether an object waits for this finalizer before it goes. */
export function containsFinalizer(object: KubernetesObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/**
 * Adds a finalizer, after those that there are, by JSON patch with a test of the resourceVersion: never by server-side
 * apply, which would make the field manager own the list. Nothing is sent when it is there. Not for an object that is
 * being deleted: an API server refuses that.
 * @returns the object as written, or the same object when nothing was to do
 * @throws WaitingError when the object changed since it was read: look again
 */
export async function addFinalizer(
  client: Pick<KubernetesClient, 'jsonPatch'>,
  object: KubernetesObject,
  finalizer: string,
  write: WriteContext,
): Promise<KubernetesObject> {
  if (containsFinalizer(object, finalizer)) return object;
  return setFinalizers(client, object, [...(object.metadata.finalizers ?? []), finalizer], write);
}

/** Takes a finalizer away, however often it is there, by the same rules. The object may be gone afterwards. */
export async function removeFinalizer(
  client: Pick<KubernetesClient, 'jsonPatch'>,
  object: KubernetesObject,
  finalizer: string,
  write: WriteContext,
): Promise<KubernetesObject> {
  if (!containsFinalizer(object, finalizer)) return object;
  const others = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return setFinalizers(client, object, others, write);
}

async function setFinalizers(
  client: Pick<KubernetesClient, 'jsonPatch'>,
  object: KubernetesObject,
  finalizers: readonly string[],
  write: WriteContext,
): Promise<KubernetesObject> {
  const { resourceVersion = '' } = object.metadata;
  const operations = [
    { op: 'test' as const, path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'add' as const, path: '/metadata/finalizers', value: [...finalizers] },
  ];
  try {
    return await client.jsonPatch(referenceOf(object), operations, write);
  } catch (error) {
    // A test that does not hold names no field; a finalizer that the server does not take does.
    if (!(error instanceof InvalidError) || error.fields.length > 0) throw error;
    throw new WaitingError(`${describeObject(object)} changed since it was read`, { cause: error });
  }
}
