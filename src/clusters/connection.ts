import { createHash } from 'node:crypto';
import type { MemberCluster } from '../api/index.ts';
import type { Lister } from '../informers/index.ts';
import { KubeconfigError, parseKubeconfig } from '../kubernetes/index.ts';
import type { Connection } from '../kubernetes/index.ts';

/** A member's connection with a fingerprint that changes when any part of it does. The fingerprint is not a secret. */
export interface FoundConnection {
  readonly connection: Connection;
  readonly fingerprint: string;
}

/**
 * Reads the kubeconfig Secret that a MemberCluster names, from the informer on Atoll's own namespace.
 * @throws KubeconfigError saying which Secret, which key or which field of the kubeconfig is wrong
 */
export function connectionOf(member: MemberCluster, secrets: Lister, namespace: string): FoundConnection {
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
