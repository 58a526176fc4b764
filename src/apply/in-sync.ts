import type { KubernetesObject } from '../kernel/index.ts';
import { contentHash } from './canonical-json.ts';
import { normalize } from './desired-object.ts';
import { applyEntry, leavesOf } from './managed-fields.ts';

/** Annotation with the hash of what was applied last. A Secret's hash lies on the Secret itself and nowhere else. */
export const APPLIED_HASH_ANNOTATION = 'atoll.dev/applied-hash';

/** The wanted object, normalized, with the annotation that says which desired state it is. */
export function withHash(desired: KubernetesObject): KubernetesObject {
  const normal = normalize(desired);
  const { [APPLIED_HASH_ANNOTATION]: _own, ...others } = normal.metadata.annotations ?? {};
  const bare = { ...normal, metadata: { ...normal.metadata, annotations: others } };
  const annotations = { ...others, [APPLIED_HASH_ANNOTATION]: contentHash(bare) };
  return { ...normal, metadata: { ...normal.metadata, annotations } };
}

/**
 * Whether an apply would change nothing, by the live object alone: it bears the hash of what is wanted, and the field
 * manager's own Apply entry still covers every field of it.
 *
 * Not noticed: a mutating admission plug-in that changes a field of ours while somebody else writes, since that leaves
 * the field ours.
 */
export function isInSync(desired: KubernetesObject, live: KubernetesObject, fieldManager: string): boolean {
  const body = withHash(desired);
  const hash = body.metadata.annotations?.[APPLIED_HASH_ANNOTATION];
  if (live.metadata.annotations?.[APPLIED_HASH_ANNOTATION] !== hash) return false;
  const entry = applyEntry(live, fieldManager);
  return entry?.apiVersion === body.apiVersion && leavesOf(body, entry).every((leaf) => leaf.owned);
}
