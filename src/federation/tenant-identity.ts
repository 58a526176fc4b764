import { SELF } from '../kubernetes/index.ts';
import type { Identity } from '../kubernetes/index.ts';

/**
 * As whom Atoll writes for a tenant's object: the service account that its spec names, in the object's own namespace;
 * Atoll itself when it names none.
 */
export function tenantIdentity({ metadata, spec }: TenantObject): Identity {
  const { serviceAccountName: name = '' } = spec;
  return name === '' ? SELF : { kind: 'serviceAccount', namespace: metadata.namespace ?? '', name };
}

interface TenantObject {
  readonly metadata: { readonly namespace?: string };
  readonly spec: { readonly serviceAccountName?: string };
}
