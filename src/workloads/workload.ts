import type { PublishedKind } from '../api/index.ts';
import type { GroupVersionKind, KubernetesObject, PolicyRule } from '../kernel/index.ts';

/** Why something could not be brought about. */
export interface Problem {
  /** PascalCase, for a condition. */
  readonly reason: string;
  readonly message: string;
  /** It stays so until the object, or what it needs, is changed. */
  readonly permanent: boolean;
}

/** What else the health of an object depends on. */
export interface Observation {
  /** RFC 3339; for transitions that happen now. */
  readonly now: string;
  /** What applying the children met. */
  readonly problems: readonly Problem[];
  /** What of the children is left to others, in one sentence; empty when nothing is. */
  readonly left: string;
}

/** What Atoll knows about one of its kinds. */
export interface Workload {
  readonly kind: PublishedKind;
  /** Every kind that {@link render} may return. */
  readonly children: readonly GroupVersionKind[];
  /** The children that an object needs. Pure and deterministic; without ownerReferences. */
  render(object: KubernetesObject): readonly KubernetesObject[];
  /** The status of an object, from its previous status and its children as they are. Pure. */
  health(
    object: KubernetesObject,
    children: readonly KubernetesObject[],
    observation: Observation,
  ): Readonly<Record<string, unknown>>;
  /** What operating the kind needs in a member. */
  readonly rules: readonly PolicyRule[];
}
