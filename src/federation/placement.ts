import type { FederatedObject } from '../api/index.ts';
import { matchesLabels } from '../kernel/index.ts';
import type { ClusterName } from '../kernel/index.ts';

/** What placement looks at of a member. */
export interface PlacementCandidate {
  readonly name: ClusterName;
  readonly labels: Readonly<Record<string, string>>;
}

/** Whether a cluster gets the object, and why or why not. */
export interface PlacementDecision {
  readonly cluster: ClusterName;
  readonly placed: boolean;
  readonly reason: 'Named' | 'Selected' | 'Excluded' | 'NotSelected' | 'UnknownCluster';
}

/**
 * Decides for every cluster: names ∪ selector, less exclusions. A selector of `{}` selects all, as in Kubernetes; no
 * selector and no names select none. A named cluster that is no member is reported, and placed once it is one.
 * Sorted by name, so that the same input always reads the same.
 */
export function decidePlacement(
  placement: FederatedObject['spec']['placement'],
  candidates: readonly PlacementCandidate[],
): readonly PlacementDecision[] {
  const names = new Set(placement.clusters ?? []);
  const excluded = new Set(placement.exclude ?? []);
  const decisions = candidates.map(({ name, labels }): PlacementDecision => {
    if (excluded.has(name)) return { cluster: name, placed: false, reason: 'Excluded' };
    if (names.has(name)) return { cluster: name, placed: true, reason: 'Named' };
    const selected = placement.selector !== undefined && matchesLabels(placement.selector, labels);
    return { cluster: name, placed: selected, reason: selected ? 'Selected' : 'NotSelected' };
  });
  const known = new Set(candidates.map(({ name }) => name));
  const unknown = [...names]
    .filter((name) => !known.has(name))
    .map((name): PlacementDecision => ({ cluster: name, placed: false, reason: 'UnknownCluster' }));
  return [...decisions, ...unknown].toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
}
