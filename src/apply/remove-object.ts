import type { KubernetesObject } from '../kernel/index.ts';
import { ConflictError, KindNotFoundError } from '../kubernetes/index.ts';
import type { DeleteOptions, KubernetesClient, ObjectReference, WriteContext } from '../kubernetes/index.ts';
import { isOwnedBy, markOf } from './ownership-mark.ts';
import type { OwnerMark } from './ownership-mark.ts';

/** What shall not be any more. */
export interface RemoveRequest {
  readonly client: KubernetesClient;
  readonly ref: ObjectReference;
  /** Whose object it must be. Without an owner the caller answers for it that the object may go. */
  readonly owner?: OwnerMark;
  /** From the informer; absent there means: look. */
  readonly live: KubernetesObject | undefined;
  readonly write: WriteContext;
  /** What to do with an object that was there before its owner. Default Delete. */
  readonly adopted?: 'Delete' | 'Orphan';
  /** Default Foreground: the object stays until what it owns is gone, so that "gone" means all of it. */
  readonly propagationPolicy?: NonNullable<DeleteOptions['propagationPolicy']>;
}

/**
 * `gone`: nothing of this owner is there. `deleting`: asked for; the deletion event tells when it is done. `foreign`: an
 * object of this name is there, and it is not the owner's. `orphaned`: it was adopted, and is left where it is.
 */
export type RemoveOutcome = 'gone' | 'deleting' | 'foreign' | 'orphaned';

/**
 * Deletes one object if it bears a valid mark of the owner, and exactly the state of it that was looked at.
 *
 * @throws ConflictError when the object changed since `live` was read: what it is now must be judged anew
 */
export async function removeObject(request: RemoveRequest): Promise<RemoveOutcome> {
  const live = request.live ?? (await read(request));
  if (live === undefined) return 'gone';
  if (!isOurs(live, request)) return 'foreign';
  if (live.metadata.deletionTimestamp !== undefined) return 'deleting';
  return isKept(live, request) ? 'orphaned' : deleteObject(live, request);
}

function isKept(live: KubernetesObject, { owner, adopted }: RemoveRequest): boolean {
  return owner !== undefined && adopted === 'Orphan' && markOf(live)?.adopted === true;
}

async function deleteObject(live: KubernetesObject, request: RemoveRequest): Promise<RemoveOutcome> {
  try {
    await sendDelete(live, request);
    return 'deleting';
  } catch (error) {
    if (error instanceof KindNotFoundError) return 'gone';
    if (error instanceof ConflictError) return await judgeAgain(live, request, error);
    throw error;
  }
}

async function sendDelete(live: KubernetesObject, request: RemoveRequest): Promise<void> {
  const { client, ref, write, propagationPolicy = 'Foreground' } = request;
  const { uid = '', resourceVersion } = live.metadata;
  const preconditions = resourceVersion === undefined ? { uid } : { uid, resourceVersion };
  await client.delete(ref, preconditions, write, { propagationPolicy });
}

/**
 * The object meant is gone when its name is free or taken by somebody else's, and going when a cache that is behind did
 * not show that it was asked for before; else the caller looks again.
 */
async function judgeAgain(meant: KubernetesObject, request: RemoveRequest, cause: Error): Promise<RemoveOutcome> {
  const current = await read(request);
  if (current === undefined) return 'gone';
  const replaced = current.metadata.uid !== meant.metadata.uid;
  if (replaced && (request.owner === undefined || !isOurs(current, request))) return 'gone';
  if (!replaced && current.metadata.deletionTimestamp !== undefined && isOurs(current, request)) return 'deleting';
  throw cause;
}

/** A kind that the server certainly does not serve has no objects. */
async function read({ client, ref, write }: RemoveRequest): Promise<KubernetesObject | undefined> {
  try {
    return await client.get(ref, { identity: write.identity });
  } catch (error) {
    if (error instanceof KindNotFoundError) return undefined;
    throw error;
  }
}

function isOurs(live: KubernetesObject, { owner }: RemoveRequest): boolean {
  return owner === undefined || isOwnedBy(live, owner);
}
