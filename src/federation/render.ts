import type { FederatedKind, FederatedObject } from '../api/index.ts';
import { AtollError, apiVersionOf } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { applyOverrides } from '../manifests/index.ts';
import { matches } from './placement.ts';
import type { PlacementCandidate } from './placement.ts';
import type { RevisionData } from './revisions.ts';

/** On a member object: the revision that it was applied at. */
export const REVISION_ANNOTATION = 'atoll.dev/revision';

/** An override does not fit the object. The cluster it was meant for is blocked, no other. */
export class OverrideError extends AtollError {
  override name = 'OverrideError';
}

/**
 * The object that one member shall have: the revision's template under the federated object's name and namespace,
 * then the overrides that match the member, in order. Pure: the same revision and the same labels give the same object.
 * @throws OverrideError naming the override, and the path that did not fit
 */
export function renderMemberObject(
  kind: FederatedKind,
  object: FederatedObject,
  revision: { readonly name: string; readonly data: RevisionData },
  member: PlacementCandidate,
): KubernetesObject {
  const { template, overrides } = revision.data;
  const { gvk } = kind.target;
  const { name = '', namespace = '' } = object.metadata;
  const base: KubernetesObject = {
    apiVersion: apiVersionOf(gvk),
    kind: gvk.kind,
    metadata: { ...template.metadata, name, namespace },
    spec: template.spec,
  };
  const rendered = overrides.filter((override) => applies(override, member)).reduce(applyOne, base);
  refuseNewIdentity(base, rendered);
  const annotations = { ...rendered.metadata.annotations, [REVISION_ANNOTATION]: revision.name };
  return { ...rendered, metadata: { ...rendered.metadata, annotations } };
}

type Override = RevisionData['overrides'][number];

/** An override is for a cluster that it names or selects; without either, for all. */
function applies(override: Override, member: PlacementCandidate): boolean {
  if (override.clusters === undefined && override.selector === undefined) return true;
  const named = override.clusters?.includes(member.name) === true;
  return named || (override.selector !== undefined && matches(override.selector, member.labels));
}

function applyOne(object: KubernetesObject, override: Override): KubernetesObject {
  try {
    return applyOverrides(object, override.patches);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OverrideError(`override ${JSON.stringify(override.name)}: ${why}`, { cause: error });
  }
}

/** Overrides may change anything but which object it is. */
function refuseNewIdentity(base: KubernetesObject, rendered: KubernetesObject): void {
  const changed =
    (rendered.apiVersion !== base.apiVersion && '/apiVersion') ||
    (rendered.kind !== base.kind && '/kind') ||
    (rendered.metadata.name !== base.metadata.name && '/metadata/name') ||
    (rendered.metadata.namespace !== base.metadata.namespace && '/metadata/namespace');
  if (changed) throw new OverrideError(`an override changes ${changed}, which says which object it is`);
}
