import { gitSourceKind } from '../../api/index.ts';
import type { GitSource } from '../../api/index.ts';
import { firstLook, withMark } from '../../apply/index.ts';
import type { LeftField, OwnerMark } from '../../apply/index.ts';
import { gvkOf, kindName } from '../../kernel/index.ts';
import type { KubernetesObject } from '../../kernel/index.ts';
import { describeObject } from '../../kubernetes/index.ts';
import type { Manifest } from '../../manifests/index.ts';
import { SOURCE_REVISION_ANNOTATION } from '../source-revision.ts';

/** The field manager of everything that comes from Git. */
export const GIT_FIELD_MANAGER = 'atoll-git';

/** One object of a revision, next to what the hub has. */
export interface PlannedObject {
  readonly manifest: Manifest;
  readonly desired: KubernetesObject;
  readonly live: KubernetesObject | undefined;
  /** Whether something is to be sent. */
  readonly changed: boolean;
  /** Fields that others hold, of what is not changed. */
  readonly left: readonly LeftField[];
}

/** The mark of a source on what it applies. */
export function markOfSource(source: GitSource, installation: string): OwnerMark {
  const { namespace = '', name, uid = '' } = source.metadata;
  return { installation, kind: kindName(gitSourceKind.gvk), namespace, name, uid };
}

/** The object in the namespace that it belongs to: its own, else the source's; none for a cluster-scoped kind. */
export function inNamespace(object: KubernetesObject, fallback: string, namespaced: boolean): KubernetesObject {
  const { namespace, ...metadata } = object.metadata;
  if (!namespaced) return { ...object, metadata };
  return {
    ...object,
    metadata: { ...metadata, namespace: namespace === undefined || namespace === '' ? fallback : namespace },
  };
}

/**
 * Compares one manifest with the hub. The object names the commit that last changed it, so a commit that leaves it as
 * it is must not touch it: it is compared under the revision that it bears, and gets the new one only when it differs.
 */
export function planObject(
  manifest: Manifest,
  placed: KubernetesObject,
  live: KubernetesObject | undefined,
  source: { readonly mark: OwnerMark; readonly revision: string },
): PlannedObject {
  const marked = withMark(placed, source.mark);
  const recorded = live?.metadata.annotations?.[SOURCE_REVISION_ANNOTATION];
  if (live !== undefined && recorded !== undefined) {
    const same = withRevision(marked, recorded);
    const { inSync, left } = firstLook(same, live, GIT_FIELD_MANAGER);
    if (inSync) return { manifest, desired: same, live, changed: false, left };
  }
  return { manifest, desired: withRevision(marked, source.revision), live, changed: true, left: [] };
}

function withRevision(object: KubernetesObject, revision: string): KubernetesObject {
  const annotations = { ...object.metadata.annotations, [SOURCE_REVISION_ANNOTATION]: revision };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** "sessions.yaml:12 FederatedRedisCluster shop/sessions": how an object of a revision is called in messages. */
export function describe(manifest: Manifest): string {
  const { object, source } = manifest;
  return `${source.file}:${source.line} ${describeObject(object)}`;
}

/** Deleting one of these takes other objects along, of which the commit said nothing. */
const CARRIERS: ReadonlySet<string> = new Set([
  'Namespace.',
  'CustomResourceDefinition.apiextensions.k8s.io',
  'MemberCluster.federation.atoll.dev',
]);

/**
 * Whether an object that its commit does not hold any more may be deleted for that. Not when it says so itself
 * (`atoll.dev/prune: disabled`), and never a Namespace, a CustomResourceDefinition or a MemberCluster: deleting those is
 * a person's decision.
 */
export function isPrunable(live: KubernetesObject): boolean {
  return live.metadata.annotations?.['atoll.dev/prune'] !== 'disabled' && !CARRIERS.has(kindName(gvkOf(live)));
}
