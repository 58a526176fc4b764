import { apiVersionOf } from '../../src/kernel/index.ts';
import type { GroupVersionKind } from '../../src/kernel/index.ts';
import type { Scope } from '../../src/informers/index.ts';

/** The namespaces in which the writer writes. */
export const NAMESPACES = ['soak-a', 'soak-b'] as const;

/** A kind and the name of its collection. */
export interface SoakKind extends GroupVersionKind {
  readonly plural: string;
}

export const CONFIG_MAP: SoakKind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps' };
export const SECRET: SoakKind = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets' };
export const SERVICE_ACCOUNT: SoakKind = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
};
export const DEPLOYMENT: SoakKind = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' };

/** What an informer of the soak holds. */
export interface SoakScope {
  readonly kind: SoakKind;
  readonly scope: Scope;
  readonly metadataOnly: boolean;
}

/** One of each sort of informer. The writer moves objects in and out of the label selector. */
export const LASTING: readonly SoakScope[] = [
  { kind: CONFIG_MAP, scope: { namespace: 'soak-a' }, metadataOnly: false },
  { kind: CONFIG_MAP, scope: { labelSelector: 'half=left' }, metadataOnly: false },
  { kind: CONFIG_MAP, scope: { fieldSelector: 'metadata.namespace=soak-b' }, metadataOnly: true },
  { kind: SECRET, scope: {}, metadataOnly: true },
  { kind: DEPLOYMENT, scope: {}, metadataOnly: false },
  { kind: SERVICE_ACCOUNT, scope: { namespace: 'soak-b' }, metadataOnly: false },
];

/** Informers that come and go during the soak; some are the lasting ones', asked for once more. */
export const PASSING: readonly SoakScope[] = [
  ...LASTING.slice(0, 4),
  { kind: SECRET, scope: { namespace: 'soak-a' }, metadataOnly: false },
  { kind: DEPLOYMENT, scope: { namespace: 'soak-b' }, metadataOnly: true },
  { kind: SERVICE_ACCOUNT, scope: { labelSelector: 'half=right' }, metadataOnly: false },
];

export function nameOf({ kind, scope, metadataOnly }: SoakScope): string {
  const selection = [scope.namespace, scope.labelSelector, scope.fieldSelector].filter((part) => part !== undefined);
  return `${kind.kind}s ${selection.join(' ')}${metadataOnly ? ' (metadata)' : ''}`.replace('  ', ' ');
}

/** The collection of a kind, in one namespace or all. */
export function pathOf(kind: SoakKind, namespace?: string): string {
  const prefix = kind.group === '' ? '/api' : '/apis';
  const place = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${prefix}/${apiVersionOf(kind)}${place}/${kind.plural}`;
}
