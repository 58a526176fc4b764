import { federatedKinds } from '../../api/index.ts';
import type { GitSource } from '../../api/index.ts';
import { applyObject, inApplyOrder, removeObject } from '../../apply/index.ts';
import { gvkOf, kindName } from '../../kernel/index.ts';
import type { KubernetesObject } from '../../kernel/index.ts';
import { ForbiddenError, KindNotFoundError, NotFoundError, referenceTo } from '../../kubernetes/index.ts';
import type { ApiError, Identity, KubernetesClient, WriteContext } from '../../kubernetes/index.ts';
import type { Manifest } from '../../manifests/index.ts';
import type { HubObjects } from './hub-objects.ts';
import { tenantIdentity } from '../tenant-identity.ts';
import { idOf } from './inventory.ts';
import type { Inventories, InventoryEntry } from './inventory.ts';
import { SyncError, isRefusal, summarize } from './sync-error.ts';
import { GIT_FIELD_MANAGER, describe, inNamespace, isPrunable, markOfSource, planObject } from './sync-plan.ts';
import type { PlannedObject } from './sync-plan.ts';

/** What one sync works with. */
export interface SyncOptions {
  readonly hub: KubernetesClient;
  readonly objects: HubObjects;
  readonly inventories: Inventories;
  readonly installation: string;
}

/** One fully read revision of one source. */
export interface SyncRequest {
  readonly source: GitSource;
  readonly revision: string;
  readonly manifests: readonly Manifest[];
  /** As Atoll itself, for the inventory; objects are written as the source's identity. */
  readonly write: WriteContext;
}

/** What a sync did. */
export interface SyncResult {
  readonly objects: number;
  readonly applied: number;
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
  const plan = await planAll(request, options, identity);
  const write: WriteContext = { ...request.write, identity, fieldManager: GIT_FIELD_MANAGER };
  const changed = plan.filter(({ changed: is }) => is);
  await validate(changed, plan, { hub: options.hub, write, revision: request.revision });
  const uid = request.source.metadata.uid ?? '';
  const before = await options.inventories.read(uid);
  const wanted = plan.map((planned) => entryOf(planned.desired, planned.live?.metadata.uid ?? ''));
  const gone = removedEntries(before, wanted);
  await record(before, [...wanted, ...gone], uid, { options, write: request.write });
  const uids = await applyAll(changed, { ...options, write, source: request.source }, request.revision);
  const kept = !request.source.spec.prune ? gone : await prune(gone, { ...options, write, source: request.source });
  const after = wanted.map((entry) => ({ ...entry, uid: uids.get(idOf(entry)) ?? entry.uid }));
  await record([...wanted, ...gone], [...after, ...kept], uid, { options, write: request.write });
  return { objects: plan.length, applied: changed.length, pruned: gone.length - kept.length };
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

async function planAll(request: SyncRequest, options: SyncOptions, identity: Identity): Promise<PlannedObject[]> {
  const problems: string[] = [];
  const planned: PlannedObject[] = [];
  const mark = markOfSource(request.source, options.installation);
  for (const manifest of inApplyOrder(request.manifests, ({ object }) => gvkOf(object))) {
    const placed = await place(manifest, request.source, options.hub);
    const refusal = refuse(placed, request.source, identity);
    if (refusal !== undefined) {
      problems.push(`${describe(manifest)}: ${refusal}`);
      continue;
    }
    try {
      const live = await options.objects.find(placed, identity);
      planned.push(planObject(manifest, placed, live, { mark, revision: request.revision }));
    } catch (error) {
      if (!(error instanceof ForbiddenError)) throw error;
      problems.push(`${describe(manifest)}: ${error.message}`);
    }
  }
  if (problems.length > 0) throw new SyncError('NotAllowed', summarize(problems), { revision: request.revision });
  return planned;
}

/** Whether the kind has namespaces is the hub's to say; a kind that it does not serve yet is taken as namespaced. */
async function place(manifest: Manifest, source: GitSource, hub: KubernetesClient): Promise<KubernetesObject> {
  const fallback = source.metadata.namespace ?? '';
  try {
    const { namespaced } = await hub.resourceFor(gvkOf(manifest.object));
    return inNamespace(manifest.object, fallback, namespaced);
  } catch (error) {
    if (!(error instanceof KindNotFoundError)) throw error;
    return inNamespace(manifest.object, fallback, true);
  }
}

/**
 * Atoll's own rights are for its own work: in its name, a source writes federated objects of its own namespace. (Atoll may
 * also write GitSources, and a source that changed itself could act as any service account there.)
 */
function refuse(object: KubernetesObject, source: GitSource, identity: Identity): string | undefined {
  if (identity.kind === 'serviceAccount') return undefined;
  const { namespace = '' } = source.metadata;
  if (!isFederated(object)) return 'is no federated object, which needs spec.serviceAccountName';
  if (object.metadata.namespace === namespace) return undefined;
  return `is outside namespace ${namespace}, which needs spec.serviceAccountName`;
}

function isFederated(object: KubernetesObject): boolean {
  const kind = kindName(gvkOf(object));
  return federatedKinds.some(({ federated }) => kindName(federated.gvk) === kind);
}

interface Validation {
  readonly hub: KubernetesClient;
  readonly write: WriteContext;
  readonly revision: string;
}

/** The hub's own verdict on everything that would be sent, before anything is. */
async function validate(
  changed: readonly PlannedObject[],
  plan: readonly PlannedObject[],
  { hub, write, revision }: Validation,
): Promise<void> {
  const problems: string[] = [];
  for (const { desired, manifest } of changed) {
    try {
      await hub.apply(desired, write, { dryRun: true, force: true });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (!comesWithTheRevision(error, desired, plan)) problems.push(`${describe(manifest)}: ${error.message}`);
    }
  }
  if (problems.length > 0) throw new SyncError('Rejected', summarize(problems), { revision });
}

/** A namespace, or a kind, that is missing now and created by this very revision. */
function comesWithTheRevision(error: ApiError, object: KubernetesObject, plan: readonly PlannedObject[]): boolean {
  const has = (kind: string, test: (planned: KubernetesObject) => boolean): boolean =>
    plan.some(({ desired }) => desired.kind === kind && test(desired));
  if (error instanceof KindNotFoundError) {
    const { group, kind } = gvkOf(object);
    return has('CustomResourceDefinition', (definition) => defines(definition, group, kind));
  }
  return (
    error instanceof NotFoundError && has('Namespace', ({ metadata }) => metadata.name === object.metadata.namespace)
  );
}

function defines(definition: KubernetesObject, group: string, kind: string): boolean {
  const spec = definition['spec'] as { group?: string; names?: { kind?: string } } | undefined;
  return spec?.group === group && spec.names?.kind === kind;
}

interface Act extends SyncOptions {
  readonly source: GitSource;
  readonly write: WriteContext;
}

/** @returns the UIDs of what was applied, by inventory id */
async function applyAll(
  changed: readonly PlannedObject[],
  act: Act,
  revision: string,
): Promise<ReadonlyMap<string, string>> {
  const uids = new Map<string, string>();
  const problems: string[] = [];
  for (const planned of changed) {
    const outcome = await apply(planned, act);
    if (typeof outcome === 'string') uids.set(idOf(entryOf(planned.desired, '')), outcome);
    else problems.push(`${describe(planned.manifest)}: ${outcome.problem}`);
  }
  if (problems.length > 0) throw new SyncError('Conflict', summarize(problems), { revision });
  return uids;
}

/** @returns the UID of the object; or why it cannot be applied, when that is not going to change by itself */
async function apply({ desired, live }: PlannedObject, act: Act): Promise<string | { readonly problem: string }> {
  const { hub: client, write } = act;
  const owner = markOfSource(act.source, act.installation);
  try {
    const outcome = await applyObject({ client, desired, live, owner, adoption: 'Adopt', write });
    if (!('object' in outcome)) return { problem: outcome.message };
    return outcome.object.metadata.uid ?? '';
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { problem: error.message };
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
