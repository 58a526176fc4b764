import type { GitSource } from '../../api/index.ts';
import {
  applyObject,
  describeFields,
  inApplyOrder,
  isEstablished,
  rehearsal,
  removeObject,
} from '../../apply/index.ts';
import type { LeftField } from '../../apply/index.ts';
import { errorMessage, gvkOf } from '../../kernel/index.ts';
import type { KubernetesObject } from '../../kernel/index.ts';
import { referenceTo } from '../../kubernetes/index.ts';
import type { KubernetesClient, WriteContext } from '../../kubernetes/index.ts';
import type { Manifest } from '../../manifests/index.ts';
import { tenantIdentity } from '../tenant-identity.ts';
import { awaitedBy } from './awaited.ts';
import type { Awaited, Wait } from './awaited.ts';
import { idOf } from './inventory.ts';
import type { InventoryEntry } from './inventory.ts';
import { DEFINITION, planRevision } from './plan-revision.ts';
import type { SyncOptions, SyncRequest } from './sync-request.ts';
import { SyncError, isRefusal, summarize } from './sync-error.ts';
import { GIT_FIELD_MANAGER, describe, isPrunable, markOfSource } from './sync-plan.ts';
import type { PlannedObject } from './sync-plan.ts';

/** What a sync did. */
export interface SyncResult {
  readonly objects: number;
  readonly applied: number;
  /** What is left to others, an object a line. */
  readonly left: readonly string[];
  readonly pruned: number;
}

/**
 * Brings one revision to the hub: plan → validate everything → record the intent → apply → prune → record.
 * Nothing is applied before all of it has passed the hub's own validation (dry run of what is changed), and nothing
 * is pruned before all of it is applied.
 * @throws SyncError naming every object that was refused; what had been applied before stays
 */
export async function syncRevision(request: SyncRequest, options: SyncOptions): Promise<SyncResult> {
  const identity = tenantIdentity(request.source);
  const { objects: plan, unplaced } = await planRevision(request, options, identity);
  const write: WriteContext = { ...request.write, identity, fieldManager: GIT_FIELD_MANAGER };
  const changed = plan.filter(({ changed: is }) => is);
  await validate(changed, { hub: options.hub, write, revision: request.revision });
  const uid = request.source.metadata.uid ?? '';
  const before = await options.inventories.read(uid);
  const wanted = plan.map((planned) => entryOf(planned.desired, planned.live?.metadata.uid ?? ''));
  const gone = removedEntries(before, wanted);
  await record(before, [...wanted, ...gone], uid, { options, write: request.write });
  const act = { ...options, write, source: request.source };
  const { uids, left, waits } = await applyAll(changed, act, request.revision);
  if (waits.length + unplaced.length > 0) throw waitingFor([...unplaced, ...waits], request.revision);
  const kept = !request.source.spec.prune ? gone : await prune(gone, act);
  const after = wanted.map((entry) => ({ ...entry, uid: uids.get(idOf(entry)) ?? entry.uid }));
  await record([...wanted, ...gone], [...after, ...kept], uid, { options, write: request.write });
  const leftBefore = plan.flatMap((planned) => describeLeft(planned.manifest, planned.left));
  const counts = { objects: plan.length, applied: changed.length, pruned: gone.length - kept.length };
  return { ...counts, left: [...leftBefore, ...left].toSorted() };
}

interface Recording {
  readonly options: SyncOptions;
  readonly write: WriteContext;
}

/** Writes the inventory when it differs from what is recorded: a sync without changes costs no write. */
async function record(
  recorded: readonly InventoryEntry[],
  wanted: readonly InventoryEntry[],
  sourceUid: string,
  { options, write }: Recording,
): Promise<void> {
  const textOf = (entries: readonly InventoryEntry[]): string =>
    entries
      .map((entry) => `${idOf(entry)}/${entry.gvk.version}/${entry.uid}`)
      .toSorted()
      .join('\n');
  if (textOf(recorded) !== textOf(wanted)) await options.inventories.replace(sourceUid, wanted, write);
}

/** Removes everything that a source applied, for a source that is being deleted. @returns how many are left */
export async function pruneAll(request: Pick<SyncRequest, 'source' | 'write'>, options: SyncOptions): Promise<number> {
  const uid = request.source.metadata.uid ?? '';
  const write: WriteContext = {
    ...request.write,
    identity: tenantIdentity(request.source),
    fieldManager: GIT_FIELD_MANAGER,
  };
  const entries = !request.source.spec.prune ? [] : await options.inventories.read(uid);
  const left = await prune(entries, { ...options, write, source: request.source });
  await options.inventories.replace(uid, left, request.write);
  return left.length;
}

interface Validation {
  readonly hub: KubernetesClient;
  readonly write: WriteContext;
  readonly revision: string;
}

/** The hub's own verdict on everything that would be sent, before anything is. What needs something else first has to wait. */
async function validate(changed: readonly PlannedObject[], { hub, write, revision }: Validation): Promise<void> {
  const problems: string[] = [];
  for (const { desired, live, manifest } of changed) {
    try {
      await hub.apply(rehearsal(desired, live, write.fieldManager), write, { dryRun: true, force: true });
    } catch (error) {
      if (awaitedBy(error) !== undefined) continue;
      if (!isRefusal(error)) throw error;
      problems.push(`${describe(manifest)}: ${error.message}`);
    }
  }
  if (problems.length > 0) throw new SyncError('Rejected', summarize(problems), { revision });
}

interface Act extends SyncOptions {
  readonly source: GitSource;
  readonly write: WriteContext;
}

/** What came of applying a revision. */
interface AppliedAll {
  /** By inventory id. */
  readonly uids: ReadonlyMap<string, string>;
  readonly left: readonly string[];
  readonly waits: readonly Wait[];
}

/** Applies what differs, in order. What cannot be applied, or not yet, holds up nothing else. */
async function applyAll(changed: readonly PlannedObject[], act: Act, revision: string): Promise<AppliedAll> {
  const uids = new Map<string, string>();
  const left: string[] = [];
  const problems: string[] = [];
  const waits: Wait[] = [];
  for (const planned of changed) {
    const outcome = await apply(planned, act);
    const text = `${describe(planned.manifest)}: ${outcome.message}`;
    if ('uid' in outcome) {
      uids.set(idOf(entryOf(planned.desired, '')), outcome.uid);
      left.push(...describeLeft(planned.manifest, outcome.left));
    } else if ('reason' in outcome) waits.push({ ...outcome, text });
    else problems.push(text);
  }
  if (problems.length > 0) throw new SyncError('Conflict', summarize(problems), { revision });
  return { uids, left, waits };
}

function waitingFor(waits: readonly Wait[], revision: string): SyncError {
  const retryAfter = Math.min(...waits.map((wait) => wait.retryAfter));
  const text = summarize(waits.map((wait) => wait.text));
  return new SyncError(waits[0]?.reason ?? 'Waiting', text, { revision, retryAfter });
}

function describeLeft(manifest: Manifest, left: readonly LeftField[]): readonly string[] {
  return left.length === 0 ? [] : [`${describe(manifest)}: ${describeFields(left)}`];
}

/** What became of one object: it is there; or why it cannot be applied; or what it has to wait for. */
type Applied = { readonly message: string } & (ThereNow | Awaited | object);

interface ThereNow {
  readonly uid: string;
  readonly left: readonly LeftField[];
}

async function apply({ desired, live }: PlannedObject, act: Act): Promise<Applied> {
  const { hub: client, write } = act;
  const owner = markOfSource(act.source, act.installation);
  try {
    const outcome = await applyObject({ client, desired, live, owner, adoption: 'Adopt', pinned: true, write });
    if (!('object' in outcome)) return { message: outcome.message };
    if (desired.kind === DEFINITION) await untilEstablished(outcome.object, act);
    return { message: outcome.result, uid: outcome.object.metadata.uid ?? '', left: outcome.left };
  } catch (error) {
    const awaited = awaitedBy(error);
    if (awaited !== undefined) return { ...awaited, message: errorMessage(error) };
    if (!isRefusal(error)) throw error;
    return { message: error.message };
  }
}

/** A kind is served within a second of its definition as a rule; longer than this, its objects have to wait. */
const ESTABLISHING = { checks: 50, between: 100 } as const;

/** Waits for a kind to be served, so that what comes after it in the same revision need not be tried in vain. */
async function untilEstablished({ metadata: { name = '' }, ...rest }: KubernetesObject, act: Act): Promise<void> {
  const reference = { gvk: gvkOf(rest), name };
  for (let check = 0; check < ESTABLISHING.checks; check += 1) {
    const definition = await act.hub.get(reference, { identity: act.write.identity });
    if (definition === undefined || isEstablished(definition)) return;
    await act.clock.sleep(ESTABLISHING.between);
  }
}

/**
 * What is not in its commit any more goes, last applied first. Each object is asked for anew: one that a watch has not
 * shown yet must not be forgotten.
 * @returns the entries of what is being deleted; what is kept, or is not ours, is forgotten
 */
async function prune(entries: readonly InventoryEntry[], act: Act): Promise<readonly InventoryEntry[]> {
  const left: InventoryEntry[] = [];
  for (const entry of inApplyOrder(entries, ({ gvk }) => gvk).toReversed()) {
    const ref = referenceTo(entry.gvk, entry.namespace, entry.name);
    const live = await act.objects.read(ref, act.write.identity);
    if (live === undefined || !isPrunable(live) || (entry.uid !== '' && live.metadata.uid !== entry.uid)) continue;
    const outcome = await removeObject({
      client: act.hub,
      ref,
      owner: markOfSource(act.source, act.installation),
      live,
      write: act.write,
      propagationPolicy: 'Background',
    });
    if (outcome === 'deleting') left.push(entry);
  }
  return left;
}

function removedEntries(before: readonly InventoryEntry[], wanted: readonly InventoryEntry[]): InventoryEntry[] {
  const ids = new Set(wanted.map((entry) => idOf(entry)));
  return before.filter((entry) => !ids.has(idOf(entry)));
}

function entryOf(object: KubernetesObject, uid: string): InventoryEntry {
  return { gvk: gvkOf(object), namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '', uid };
}
