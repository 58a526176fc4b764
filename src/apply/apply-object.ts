import { WaitingError } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import {
  BadRequestError,
  ConflictError,
  FieldManagerConflictError,
  ForbiddenError,
  InvalidError,
  NamespaceTerminatingError,
  UnknownFieldError,
  describeObject,
  referenceOf,
} from '../kubernetes/index.ts';
import { bodyToCreate, decideApply } from './apply-decision.ts';
import type { Decision } from './apply-decision.ts';
import { ApplyMemory, FIRST_LOOK } from './apply-memory.ts';
import type { ObjectMemory } from './apply-memory.ts';
import type { AppliedOutcome, ApplyOutcome, ApplyRequest } from './apply-request.ts';
import { migrationPatch } from './client-side-apply.ts';
import { appliedHash, wantedObject } from './desired-object.ts';
import type { WantedObject } from './desired-object.ts';
import { emptyingPatch } from './emptied-maps.ts';
import { FIELD_MANAGERS } from './field-holders.ts';
import { immutableFields, missingConsent } from './immutable-fields.ts';
import type { LeftField } from './leaf-verdict.ts';
import { isOwnedBy, markOf, withMark } from './ownership-mark.ts';

/** No object that exists can have it: etcd gives revision 1 to nothing. */
const NEVER_A_RESOURCE_VERSION = '1';

/** How long an answer that would come again is taken for given: rights change sooner than schemas. */
const FORBIDDEN_LASTS = 50_000;
const REFUSAL_LASTS = 10 * 60_000;

/** One request, with what is made of it on the way. */
interface Run {
  readonly request: ApplyRequest;
  readonly wanted: WantedObject;
  readonly memory: ObjectMemory;
}

/** An object that exists, and what is known about it. */
interface LiveRun extends Run {
  readonly live: KubernetesObject;
}

type ApplyDecision = Extract<Decision, { action: 'apply' }>;

/**
 * Makes one object what it shall be, with as few requests as that takes: none when it is.
 *
 * @param memory what is remembered between calls. Without one, every call is a first look.
 * @throws WaitingError when the object appears, vanishes or is being deleted meanwhile; ConflictError when `live` is
 *   behind; UnsendableError for what is not worth sending; InvalidError, UnknownFieldError, ForbiddenError and the like
 *   as the API server answers, or would answer again
 */
export async function applyObject(
  request: ApplyRequest,
  memory: ApplyMemory = new ApplyMemory(FIRST_LOOK),
): Promise<ApplyOutcome> {
  const { client, desired } = request;
  const live = request.live ?? (await client.get(referenceOf(desired), { identity: request.write.identity }));
  const wanted = wantedObject(marked(request, live), request.ignore);
  const remembered = memory.of(desired);
  remembered.turnTo(live?.metadata.uid, stateOf(request, wanted));
  const run = { request, wanted, memory: remembered };
  return live === undefined ? create(run) : update({ ...run, live });
}

/** What is wanted, and by which policy: what was found for another one does not count. */
function stateOf({ force = false, ignore = [] }: ApplyRequest, { hash }: WantedObject): string {
  return `${hash} ${force} ${JSON.stringify(ignore)}`;
}

/** With the mark of its owner, which tells of an adoption for as long as the object lives. */
function marked({ desired, owner }: ApplyRequest, live: KubernetesObject | undefined): KubernetesObject {
  if (owner === undefined) return desired;
  if (live === undefined) return withMark(desired, owner);
  const adopted = isOwnedBy(live, owner) ? markOf(live)?.adopted === true : true;
  return withMark(desired, owner, { adopted });
}

/**
 * An apply that creates or does nothing. A plain apply would merge into an object that appeared since we looked, and a
 * POST would make us owner by Update instead of Apply; an apply with a resourceVersion that no object has is accepted
 * for an absent object and refused for any that exists.
 */
async function create({ request, wanted, memory }: Run): Promise<ApplyOutcome> {
  throwKnownRefusal(memory, undefined);
  const body = withMetadata(bodyToCreate(wanted), { resourceVersion: NEVER_A_RESOURCE_VERSION });
  try {
    const object = await request.client.apply(body, request.write);
    memory.turnTo(object.metadata.uid, stateOf(request, wanted));
    return finish({ request, wanted, memory, live: object }, object, { result: 'created', left: [], taken: [] });
  } catch (error) {
    rememberRefusal(memory, undefined, error);
    if (!(error instanceof ConflictError || error instanceof FieldManagerConflictError)) throw error;
    throw new WaitingError(`${describeObject(body)} appeared while it was being created`, { cause: error });
  }
}

/** foreign? → never updated? → as it was when nothing was to be done? → decide → being deleted? → write. */
async function update(run: LiveRun): Promise<ApplyOutcome> {
  const { request, live, memory, wanted } = run;
  const foreign = foreignMessage(live, request);
  if (foreign !== undefined) return { result: 'foreign', message: foreign };
  if (request.updates === 'Never') {
    return { ...unchanged(live, { left: [], rewritten: [] }), outdated: appliedHash(live) !== wanted.hash };
  }
  const settled = memory.settled(live, request.write.fieldManager);
  if (settled !== undefined) return unchanged(live, settled);
  const decision = decide(run);
  if (decision.action === 'none') {
    memory.settle(live, request.write.fieldManager, decision);
    return unchanged(live, decision);
  }
  if (decision.action === 'blocked') return blocked(wanted.body, decision.held);
  if (live.metadata.deletionTimestamp !== undefined) {
    throw new WaitingError(`${describeObject(live)} is being deleted; it is created anew when it is gone`);
  }
  throwKnownRefusal(memory, live);
  const prepared = await prepare(run);
  return write(prepared, prepared === run ? decision : dueAfter(prepared, decision));
}

/** What is due when the object was prepared; at least what was due before. */
function dueAfter(run: LiveRun, before: ApplyDecision): ApplyDecision {
  const decision = decide(run);
  return decision.action === 'apply' ? decision : before;
}

function decide({ request, wanted, live, memory }: LiveRun): Decision {
  return decideApply({
    wanted,
    live,
    fieldManager: request.write.fieldManager,
    managers: request.managers ?? FIELD_MANAGERS,
    force: request.force === true,
    adopting: isAdopting(request, live),
    conflicts: memory.conflictsOf(live),
    isFlipping: memory.isFlipping,
    isUsual: memory.isUsual,
  });
}

function isAdopting({ owner }: ApplyRequest, live: KubernetesObject): boolean {
  return owner !== undefined && !isOwnedBy(live, owner);
}

/** What has to be written before an apply can do its work: ownership handed over, maps emptied. Both are rare. */
async function prepare(run: LiveRun): Promise<LiveRun> {
  const { request, live, wanted } = run;
  const { fieldManager } = request.write;
  const patch = isAdopting(request, live)
    ? migrationPatch(live, fieldManager)
    : emptyingPatch(wanted.body, live, fieldManager);
  if (patch === undefined) return run;
  return { ...run, live: await request.client.jsonPatch(referenceOf(live), patch, request.write) };
}

async function write(run: LiveRun, decision: ApplyDecision): Promise<ApplyOutcome> {
  try {
    return await send(run, decision);
  } catch (error) {
    if (error instanceof FieldManagerConflictError || error instanceof ConflictError) return lookAgain(error, run);
    return refuse(error, run);
  }
}

async function send(run: LiveRun, { body, force, left, taken }: ApplyDecision): Promise<ApplyOutcome> {
  const { request, live, memory } = run;
  const { uid, resourceVersion } = live.metadata;
  const isPinned = force || request.pinned === true || memory.isFirstWrite;
  const precondition = isPinned ? { uid, resourceVersion } : { uid };
  const object = await request.client.apply(withMetadata(body, precondition), request.write, { force });
  const result = object.metadata.resourceVersion === resourceVersion ? 'unchanged' : 'updated';
  return finish(run, object, { result, left, taken });
}

/** Notes what came of an apply: what it did not bring about, it would not bring about the next time either. */
function finish(
  run: LiveRun,
  object: KubernetesObject,
  { result, left, taken }: Pick<AppliedOutcome, 'result' | 'left' | 'taken'>,
): AppliedOutcome {
  const after = decide({ ...run, live: object });
  const unsettled = after.action === 'apply' ? after.taken.filter(({ why }) => why === 'removed') : [];
  run.memory.applied(taken, [...unsettled, ...after.rewritten]);
  const rewritten = after.rewritten.map(({ path }) => path);
  return { result, object, left, rewritten, taken };
}

/**
 * The cache is behind; or an entry of another version holds a field, which the object did not show. Decided anew, once, on
 * the object as it is now, together with what the server told.
 */
async function lookAgain(error: FieldManagerConflictError | ConflictError, run: LiveRun): Promise<ApplyOutcome> {
  const { request, wanted, memory } = run;
  const live = await request.client.get(referenceOf(wanted.body), { identity: request.write.identity });
  if (live === undefined || live.metadata.deletionTimestamp !== undefined) {
    throw new WaitingError(`${describeObject(wanted.body)} went while it was being applied`, { cause: error });
  }
  const foreign = foreignMessage(live, request);
  if (foreign !== undefined) return { result: 'foreign', message: foreign };
  if (live.metadata.uid !== run.live.metadata.uid) {
    throw new WaitingError(`${describeObject(live)} was replaced by another object`, { cause: error });
  }
  if (error instanceof FieldManagerConflictError) memory.noteConflicts(live, error.conflicts);
  const again = { ...run, live };
  const decision = decide(again);
  if (decision.action === 'none') return unchanged(live, decision);
  if (decision.action === 'blocked') return blocked(wanted.body, decision.held);
  try {
    return await send(again, decision);
  } catch (second) {
    return refuse(second, again);
  }
}

/** Recreates what may be recreated, remembers what would be refused again. @throws the error, in any other case */
async function refuse(error: unknown, { request, live, memory, wanted }: LiveRun): Promise<ApplyOutcome> {
  if (isAnotherObject(error)) {
    throw new WaitingError(`${describeObject(live)} was replaced by another object`, { cause: error });
  }
  const immutable = immutableFields(error);
  if (immutable.length > 0 && missingConsent(wanted.body).length === 0) {
    const { uid = '', resourceVersion = '' } = live.metadata;
    const options = { propagationPolicy: 'Foreground' as const };
    await request.client.delete(referenceOf(live), { uid, resourceVersion }, request.write, options);
    const message = `${describeObject(live)} is deleted and made anew: ${immutable.join(', ')} cannot be changed`;
    return { result: 'recreating', message };
  }
  rememberRefusal(memory, live, error);
  throw error;
}

function throwKnownRefusal(memory: ObjectMemory, live: KubernetesObject | undefined): void {
  const refusal = memory.refusalOf(live);
  if (refusal !== undefined) throw refusal;
}

function rememberRefusal(memory: ObjectMemory, live: KubernetesObject | undefined, error: unknown): void {
  if (error instanceof NamespaceTerminatingError) return;
  if (error instanceof ForbiddenError) memory.refused(live, error, FORBIDDEN_LASTS);
  if (!(error instanceof InvalidError || error instanceof UnknownFieldError || error instanceof BadRequestError))
    return;
  memory.refused(live, error, REFUSAL_LASTS);
}

function unchanged(
  object: KubernetesObject,
  { left, rewritten }: Pick<Decision, 'left' | 'rewritten'>,
): AppliedOutcome {
  return { result: 'unchanged', object, left, rewritten: rewritten.map(({ path }) => path), taken: [] };
}

function blocked(body: KubernetesObject, held: readonly LeftField[]): ApplyOutcome {
  return {
    result: 'blocked',
    held,
    message: `${describeObject(body)}: cannot be left to others: ${describeFields(held)}`,
  };
}

/** ".spec.replicas (kube-controller-manager through scale), …": in one order, so that equal states are equal texts. */
export function describeFields(fields: readonly LeftField[]): string {
  return fields
    .map(({ path, manager, subresource, why }) => {
      const through = subresource === undefined ? '' : ` through ${subresource}`;
      const who = manager === '' ? why : `${manager}${through}`;
      return `${path} (${why === 'flipping' && manager !== '' ? `${who}, flipping` : who})`;
    })
    .toSorted()
    .join(', ');
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

/** The server compares UIDs in validation: an object that took the name of another is "metadata.uid: immutable". */
function isAnotherObject(error: unknown): boolean {
  return error instanceof InvalidError && error.fields.some((field) => field.path === 'metadata.uid');
}

function withMetadata(body: KubernetesObject, fields: Readonly<Record<string, unknown>>): KubernetesObject {
  return { ...body, metadata: { ...body.metadata, ...fields } };
}
