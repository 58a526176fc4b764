import { createHash } from 'node:crypto';
import type { MemberCluster } from '../api/index.ts';
import type { Lister } from '../informers/index.ts';
import { CORE, KubeconfigError, parseKubeconfig } from '../kubernetes/index.ts';
import type { Connection, KubernetesClient } from '../kubernetes/index.ts';

/** A member's connection with a fingerprint that changes when any part of it does. The fingerprint is not a secret. */
export interface FoundConnection {
  readonly connection: Connection;
  readonly fingerprint: string;
}

/** Secrets of Atoll's own namespace by "namespace/name": the informer's, or ones just read. */
export type Secrets = Pick<Lister, 'get'>;

/**
 * Reads the kubeconfig Secret that a MemberCluster names.
 * @throws KubeconfigError saying which Secret, which key or which field of the kubeconfig is wrong
 */
export function connectionOf(member: MemberCluster, secrets: Secrets, namespace: string): FoundConnection {
  const reference = member.spec.connection.kubeconfigSecretRef;
  if (reference === undefined) throw new KubeconfigError('spec.connection', 'names no kubeconfigSecretRef');
  const where = `Secret ${namespace}/${reference.name}`;
  const secret = secrets.get(`${namespace}/${reference.name}`);
  if (secret === undefined) throw new KubeconfigError(where, 'does not exist');
  const encoded = (secret['data'] as Record<string, string> | undefined)?.[reference.key];
  if (encoded === undefined) throw new KubeconfigError(where, `has no key ${JSON.stringify(reference.key)}`);
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return { connection: parseIn(where, text), fingerprint: createHash('sha256').update(text).digest('hex') };
}

function parseIn(where: string, text: string): Connection {
  try {
    return parseKubeconfig(text);
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new KubeconfigError(where, error.message, { cause: error });
  }
}

/** The same, from the hub itself: what the informer has may be a moment old. @throws as the hub answers, and as above */
export async function readConnection(
  member: MemberCluster,
  hub: KubernetesClient,
  namespace: string,
): Promise<FoundConnection> {
  const name = member.spec.connection.kubeconfigSecretRef?.name;
  const secret = name === undefined ? undefined : await hub.get({ gvk: CORE.Secret, namespace, name });
  return connectionOf(member, { get: () => secret }, namespace);
}
