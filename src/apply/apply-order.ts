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

/** The same things by their kinds, CustomResourceDefinitions and Namespaces first; equals keep their order. */
export function inApplyOrder<T>(things: readonly T[], kindOf: (thing: T) => GroupVersionKind): T[] {
  return things.toSorted((a, b) => applyRank(kindOf(a)) - applyRank(kindOf(b)));
}

/** Whether a CustomResourceDefinition's kind is served: what is of the kind can be applied from then on. */
export function isEstablished(definition: KubernetesObject): boolean {
  const status = definition['status'] as { conditions?: readonly { type: string; status: string }[] } | undefined;
  return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') ?? false;
}
