import type { GitSource } from '../../api/index.ts';
import type { GitCredentials } from '../../git/index.ts';
import { CORE, ForbiddenError } from '../../kubernetes/index.ts';
import type { KubernetesClient } from '../../kubernetes/index.ts';
import { SyncError } from './sync-error.ts';

/**
 * Reads the credentials of a source from the Secrets that it names, in its own namespace: the keys are Flux's
 * (`username`, `password`, `bearerToken`, `ca.crt`).
 * @throws SyncError when a Secret is missing or may not be read
 */
export async function credentialsOf(source: GitSource, hub: KubernetesClient): Promise<GitCredentials> {
  const { namespace = '' } = source.metadata;
  const login = await readSecret(hub, namespace, source.spec.secretRef?.name);
  const trust = await readSecret(hub, namespace, source.spec.caSecretRef?.name);
  const ca = trust['ca.crt'] ?? login['ca.crt'];
  return {
    ...pick('username', login['username']),
    ...pick('password', login['password']),
    ...pick('bearerToken', login['bearerToken']),
    ...pick('ca', ca),
  };
}

function pick(field: string, value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { [field]: value };
}

async function readSecret(
  hub: KubernetesClient,
  namespace: string,
  name: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (name === undefined) return {};
  try {
    const secret = await hub.get({ gvk: CORE.Secret, namespace, name });
    if (secret === undefined) throw new SyncError('SecretNotFound', `Secret ${namespace}/${name} does not exist`);
    const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
    const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]);
    return Object.fromEntries(decoded) as Record<string, string>;
  } catch (error) {
    if (!(error instanceof ForbiddenError)) throw error;
    const remedy = `bind the ClusterRole atoll-tenant to Atoll's service account in namespace ${namespace}`;
    throw new SyncError('SecretForbidden', `Atoll may not read Secret ${namespace}/${name}: ${remedy}`, {
      cause: error,
    });
  }
}
