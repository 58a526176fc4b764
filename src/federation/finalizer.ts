import { WaitingError } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { InvalidError, describeObject, referenceOf } from '../kubernetes/index.ts';
import type { KubernetesClient, WriteContext } from '../kubernetes/index.ts';

/** On every hub object whose deletion has something to clean up first. */
const CASCADE_FINALIZER = 'federation.atoll.dev/cascade';

/** Whether the object waits for Atoll before it goes. */
export function hasFinalizer(object: KubernetesObject): boolean {
  return object.metadata.finalizers?.includes(CASCADE_FINALIZER) ?? false;
}

/**
 * Adds the finalizer by JSON patch with a test of the resourceVersion: never by server-side apply, which would make
 * Atoll's field manager own the list, and never to an object that is being deleted (an API server refuses that).
 * @throws WaitingError when the object changed since it was read: look again
 */
export function addFinalizer(
  client: KubernetesClient,
  object: KubernetesObject,
  write: WriteContext,
): Promise<KubernetesObject> {
  return setFinalizers(client, object, [...(object.metadata.finalizers ?? []), CASCADE_FINALIZER], write);
}

/** Takes the finalizer away, by the same rule. The object may be gone afterwards. */
export function removeFinalizer(
  client: KubernetesClient,
  object: KubernetesObject,
  write: WriteContext,
): Promise<KubernetesObject> {
  const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== CASCADE_FINALIZER);
  return setFinalizers(client, object, finalizers, write);
}

async function setFinalizers(
  client: KubernetesClient,
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
    if (!(error instanceof InvalidError)) throw error;
    throw new WaitingError(`${describeObject(object)} changed since it was read`, { cause: error });
  }
}
