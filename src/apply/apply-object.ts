import { WaitingError } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import {
  ConflictError,
  FieldManagerConflictError,
  InvalidError,
  describeObject,
  referenceOf,
} from '../kubernetes/index.ts';
import type { FieldConflict, KubernetesClient, WriteContext } from '../kubernetes/index.ts';
import { areDrift, INTERACTIVE_MANAGERS, isHeldByDriftOnly } from './drift.ts';
import { isInSync, withHash } from './in-sync.ts';
import { isOwnedBy, markOf, withMark } from './ownership-mark.ts';
import type { OwnerMark } from './ownership-mark.ts';

/** What shall be, what is, and under whose name. */
export interface ApplyRequest {
  readonly client: KubernetesClient;
  /** As rendered: without mark and hash. */
  readonly desired: KubernetesObject;
  /** From the informer. Absent there means: look, because the cache may be behind, or select by our label only. */
  readonly live: KubernetesObject | undefined;
  /** Whose object it is. Without an owner nothing is marked, and nothing counts as foreign. */
  readonly owner?: OwnerMark;
  /** What to do with an existing object that bears no mark. Default Fail. */
  readonly adoption?: 'Fail' | 'Adopt';
  /** Take every field from whoever holds it. */
  readonly force?: boolean;
  /** Field managers whose updates are taken back. Default {@link INTERACTIVE_MANAGERS}. */
  readonly interactiveManagers?: readonly string[];
  readonly write: WriteContext;
}

/** What came of an {@link ApplyRequest}. */
export type ApplyOutcome =
  | {
      readonly result: 'created' | 'updated' | 'unchanged';
      readonly object: KubernetesObject;
      /** Fields that were not sent because others hold them. */
      readonly left: readonly FieldConflict[];
    }
  | { readonly result: 'foreign'; readonly message: string }
  | { readonly result: 'conflict'; readonly conflicts: readonly FieldConflict[]; readonly message: string };

/** No object that exists can have it: etcd gives revision 1 to nothing. */
const NEVER_A_RESOURCE_VERSION = '1';

/**
 * Makes one object what it shall be, with as few requests as that takes: none when it is.
 *
 * @throws WaitingError when the object appears, vanishes or is being deleted meanwhile; ConflictError when `live` is
 *   behind; InvalidError, UnknownFieldError, ForbiddenError and the like as the API server answers
 */
export async function applyObject(request: ApplyRequest): Promise<ApplyOutcome> {
  const { client, desired, owner } = request;
  const body = withHash(owner === undefined ? desired : withMark(desired, owner));
  const live = request.live ?? (await client.get(referenceOf(body), { identity: request.write.identity }));
  return live === undefined ? create(body, request) : update(body, live, request);
}

/**
 * An apply that creates or does nothing. A plain apply would merge into an object that appeared since we looked, and a
 * POST would make us owner by Update instead of Apply; an apply with a resourceVersion that no object has is accepted
 * for an absent object and refused for any that exists.
 */
async function create(body: KubernetesObject, { client, write }: ApplyRequest): Promise<ApplyOutcome> {
  try {
    const object = await client.apply(withMetadata(body, { resourceVersion: NEVER_A_RESOURCE_VERSION }), write);
    return { result: 'created', object, left: [] };
  } catch (error) {
    if (!(error instanceof ConflictError || error instanceof FieldManagerConflictError)) throw error;
    throw new WaitingError(`${describeObject(body)} appeared while it was being created`, { cause: error });
  }
}

async function update(body: KubernetesObject, live: KubernetesObject, request: ApplyRequest): Promise<ApplyOutcome> {
  const foreign = foreignMessage(live, request);
  if (foreign !== undefined) return { result: 'foreign', message: foreign };
  if (isInSync(body, live, request.write.fieldManager)) return { result: 'unchanged', object: live, left: [] };
  if (live.metadata.deletionTimestamp !== undefined) {
    throw new WaitingError(`${describeObject(live)} is being deleted; it is created anew when it is gone`);
  }
  if (request.force === true) return send(body, live, request, 'forced');
  if (isHeldByDriftOnly(evidenceOf(body, live, request))) return send(body, live, request, 'pinned');
  try {
    return await send(body, live, request, 'unforced');
  } catch (error) {
    if (!(error instanceof FieldManagerConflictError)) throw error;
    return resolveConflicts(error, body, request);
  }
}

/** `pinned`: forced, but only if the live object is still the one that was judged. */
type Mode = 'unforced' | 'forced' | 'pinned';

async function send(
  body: KubernetesObject,
  live: KubernetesObject,
  { client, write }: ApplyRequest,
  mode: Mode,
): Promise<ApplyOutcome> {
  const { uid, resourceVersion } = live.metadata;
  const precondition = mode === 'pinned' ? { uid, resourceVersion } : { uid };
  try {
    const object = await client.apply(withMetadata(body, precondition), write, { force: mode !== 'unforced' });
    const same = object.metadata.resourceVersion === resourceVersion;
    return { result: same ? 'unchanged' : 'updated', object, left: [] };
  } catch (error) {
    if (!isAnotherObject(error)) throw error;
    throw new WaitingError(`${describeObject(live)} was replaced by another object`, { cause: error });
  }
}

/** Decides on the state as it is now: a cache that is behind must not turn a person's edit into a reported conflict. */
async function resolveConflicts(
  error: FieldManagerConflictError,
  body: KubernetesObject,
  request: ApplyRequest,
): Promise<ApplyOutcome> {
  const live = await request.client.get(referenceOf(body), { identity: request.write.identity });
  if (live === undefined) {
    throw new WaitingError(`${describeObject(body)} vanished while it was being applied`, { cause: error });
  }
  const foreign = foreignMessage(live, request);
  if (foreign !== undefined) return { result: 'foreign', message: foreign };
  if (areDrift(error.conflicts, evidenceOf(body, live, request))) return send(body, live, request, 'pinned');
  return { result: 'conflict', conflicts: error.conflicts, message: conflictMessage(body, error.conflicts) };
}

function evidenceOf(
  body: KubernetesObject,
  live: KubernetesObject,
  { write, interactiveManagers = INTERACTIVE_MANAGERS }: ApplyRequest,
): Parameters<typeof isHeldByDriftOnly>[0] {
  return { body, live, fieldManager: write.fieldManager, interactiveManagers };
}

/** Why an existing object must not be touched; undefined when it may. */
function foreignMessage(live: KubernetesObject, { owner, adoption }: ApplyRequest): string | undefined {
  if (owner === undefined || isOwnedBy(live, owner)) return undefined;
  const found = markOf(live);
  const what = describeObject(live);
  if (found?.valid === true) {
    const { kind, namespace, name, installation } = found.mark;
    return `${what} belongs to ${kind} ${namespace}/${name} of installation ${installation}`;
  }
  return adoption === 'Adopt' ? undefined : `${what} exists already and does not belong to Atoll`;
}

function conflictMessage(body: KubernetesObject, conflicts: readonly FieldConflict[]): string {
  const held = conflicts.map(({ manager, path }) => `${path} (${manager})`).toSorted();
  return `${describeObject(body)}: fields are held by other managers: ${held.join(', ')}`;
}

/** The server compares UIDs in validation: an object that took the name of another is "metadata.uid: immutable". */
function isAnotherObject(error: unknown): boolean {
  return error instanceof InvalidError && error.fields.some((field) => field.path === 'metadata.uid');
}

function withMetadata(body: KubernetesObject, fields: Readonly<Record<string, unknown>>): KubernetesObject {
  return { ...body, metadata: { ...body.metadata, ...fields } };
}
