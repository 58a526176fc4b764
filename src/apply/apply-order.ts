import { gvkOf } from '../kernel/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../kernel/index.ts';

/** What others need before they can exist, first to last. Everything else comes after, in the order given. */
const FIRST: readonly { readonly group: string; readonly kind: string }[] = [
  { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' },
  { group: '', kind: 'Namespace' },
];

/** Rank of a kind in the order of applying. */
function applyRank(gvk: GroupVersionKind): number {
  const rank = FIRST.findIndex(({ group, kind }) => group === gvk.group && kind === gvk.kind);
  return rank < 0 ? FIRST.length : rank;
}

/** The same objects, CustomResourceDefinitions and Namespaces first; equals keep their order. */
export function inApplyOrder<T extends KubernetesObject>(objects: readonly T[]): T[] {
  return objects.toSorted((a, b) => applyRank(gvkOf(a)) - applyRank(gvkOf(b)));
}
