import type { FederatedKind, FederatedObject } from '../api/index.ts';
import { withoutAllocated } from '../apply/index.ts';
import { apiVersionOf, matchesLabels } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { OverrideError, applyOverrides } from '../manifests/index.ts';
import type { PlacementCandidate } from './placement.ts';
import type { RevisionData } from './revisions.ts';

/** On a member object: the revision that it was applied at. */
const REVISION_ANNOTATION = 'atoll.dev/revision';

/**
 * The object that one member shall have: the revision's template under the federated object's name and namespace,
 * then the overrides that match the member, in order. What a cluster allocates for itself is taken from the overrides only.
 * Pure: the same revision and the same labels give the same object.
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
  const { name, namespace = '' } = object.metadata;
  const base = withoutAllocated({
    apiVersion: apiVersionOf(gvk),
    kind: gvk.kind,
    metadata: { ...template.metadata, name, namespace },
    spec: template.spec,
  });
  const rendered = overrides.filter((override) => applies(override, member)).reduce(applyOne, base);
  const annotations = { ...rendered.metadata.annotations, [REVISION_ANNOTATION]: revision.name };
  return { ...rendered, metadata: { ...rendered.metadata, annotations } };
}

type Override = RevisionData['overrides'][number];

/** An override is for the clusters that it names or selects. */
function applies(override: Override, member: PlacementCandidate): boolean {
  const named = override.clusters?.includes(member.name) === true;
  return named || (override.selector !== undefined && matchesLabels(override.selector, member.labels));
}

/** Overrides may change anything but which object it is. */
function applyOne(object: KubernetesObject, override: Override): KubernetesObject {
  const changed = applyOverrides(object, [override]);
  const before = identityOf(object);
  const after = identityOf(changed);
  const path = Object.keys(before).find((field) => before[field] !== after[field]);
  if (path === undefined) return changed;
  throw new OverrideError(
    { override: override.name, operation: 0, path },
    'says which object it is and cannot be changed',
  );
}

/** By path. A patch can take anything away, `metadata` too. */
function identityOf(object: Partial<KubernetesObject>): Readonly<Record<string, string | undefined>> {
  return {
    '/apiVersion': object.apiVersion,
    '/kind': object.kind,
    '/metadata/name': object.metadata?.name,
    '/metadata/namespace': object.metadata?.namespace,
  };
}
