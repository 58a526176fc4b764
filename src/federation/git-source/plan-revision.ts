import { federatedKinds } from '../../api/index.ts';
import type { GitSource } from '../../api/index.ts';
import { inApplyOrder } from '../../apply/index.ts';
import { gvkOf, kindName } from '../../kernel/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../../kernel/index.ts';
import { ForbiddenError, KindNotFoundError } from '../../kubernetes/index.ts';
import type { Identity, KubernetesClient } from '../../kubernetes/index.ts';
import type { Manifest } from '../../manifests/index.ts';
import { awaitedBy } from './awaited.ts';
import type { Awaited, Wait } from './awaited.ts';
import { SyncError, summarize } from './sync-error.ts';
import { describe, inNamespace, markOfSource, planObject } from './sync-plan.ts';
import type { PlannedObject } from './sync-plan.ts';
import type { SyncOptions, SyncRequest } from './sync-request.ts';

/** The kind whose objects bring other kinds. */
export const DEFINITION = 'CustomResourceDefinition';

/** A revision next to what the hub has. */
export interface Plan {
  readonly objects: readonly PlannedObject[];
  /** What cannot be told to be in a namespace or not, because its kind is served by nobody and brought by nothing. */
  readonly unplaced: readonly Wait[];
}

/**
 * Compares every manifest of a revision with the hub.
 * @throws SyncError naming every object that the source may not write
 */
export async function planRevision(
  request: SyncRequest,
  options: Pick<SyncOptions, 'hub' | 'objects' | 'installation'>,
  identity: Identity,
): Promise<Plan> {
  const problems: string[] = [];
  const objects: PlannedObject[] = [];
  const unplaced: Wait[] = [];
  const mark = markOfSource(request.source, options.installation);
  for (const manifest of inApplyOrder(request.manifests, ({ object }) => gvkOf(object))) {
    const placed = await place(manifest, request, options.hub);
    const refusal = refuse(placed.object, request.source, identity);
    if (refusal !== undefined) {
      problems.push(`${describe(manifest)}: ${refusal}`);
    } else if (placed.awaited !== undefined) {
      unplaced.push({ ...placed.awaited, text: `${describe(manifest)}: the hub does not serve this kind` });
    } else {
      const live = await findLive(placed.object, options.objects, identity);
      if (live instanceof ForbiddenError) problems.push(`${describe(manifest)}: ${live.message}`);
      else objects.push(planObject(manifest, placed.object, live, { mark, revision: request.revision }));
    }
  }
  if (problems.length > 0) throw new SyncError('NotAllowed', summarize(problems), { revision: request.revision });
  return { objects, unplaced };
}

/** @returns the error when the source may not even read the object: that is its problem, and not the run's */
async function findLive(
  object: KubernetesObject,
  objects: SyncOptions['objects'],
  identity: Identity,
): Promise<KubernetesObject | ForbiddenError | undefined> {
  try {
    return await objects.find(object, identity);
  } catch (error) {
    if (error instanceof ForbiddenError) return error;
    throw error;
  }
}

/**
 * Whether the kind has namespaces is the hub's to say, or the definition's that comes with the revision. Without either it
 * is not guessed: an object in the wrong place could be neither applied nor pruned.
 */
async function place(
  manifest: Manifest,
  { source, manifests }: SyncRequest,
  hub: KubernetesClient,
): Promise<{ readonly object: KubernetesObject; readonly awaited?: Awaited | undefined }> {
  const fallback = source.metadata.namespace ?? '';
  try {
    const { namespaced } = await hub.resourceFor(gvkOf(manifest.object));
    return { object: inNamespace(manifest.object, fallback, namespaced) };
  } catch (error) {
    const awaited = awaitedBy(error);
    if (!(error instanceof KindNotFoundError) || awaited === undefined) throw error;
    const scope = manifests.map(({ object }) => scopeIn(object, gvkOf(manifest.object))).find(Boolean);
    const object = inNamespace(manifest.object, fallback, scope !== 'Cluster');
    return scope === undefined ? { object, awaited } : { object };
  }
}

/** The scope that a CustomResourceDefinition gives a kind; undefined when it is about another one. */
function scopeIn(definition: KubernetesObject, { group, kind }: GroupVersionKind): string | undefined {
  if (definition.kind !== DEFINITION) return undefined;
  const spec = definition['spec'] as { group?: string; names?: { kind?: string }; scope?: string } | undefined;
  return spec?.group === group && spec.names?.kind === kind ? spec.scope : undefined;
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
