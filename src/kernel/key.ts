import { TerminalError } from './errors.ts';
import type { KubernetesObject } from './kubernetes-object.ts';

/** The name of a cluster: a DNS label. {@link HUB} is reserved for the hub. */
export type ClusterName = string;

/** The hub's own name, as of its shard and its queue. No member can have it. */
export const HUB: ClusterName = 'hub';

/**
 * What a job holds: which object of which kind in which cluster is to be looked at, never what happened to it.
 * `kind` is the kind's name with its group ("FederatedRedisCluster.federation.atoll.dev"); `namespace` is empty for
 * cluster-scoped objects.
 */
export interface Key {
  readonly cluster: ClusterName;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The key of an object in a cluster. `kind` need not be the object's own: a member object leads to its federated one. */
export function keyFor(cluster: ClusterName, kind: string, { metadata }: KubernetesObject): Key {
  return { cluster, kind, namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
}

/** The text of a key, unique per key: "cluster|kind|namespace|name". None of the parts can contain "|". */
export function formatKey(key: Key): string {
  return `${key.cluster}|${key.kind}|${key.namespace}|${key.name}`;
}

/** Reads what {@link formatKey} wrote. @throws TerminalError when the text is not a key (Redis content is not trusted) */
export function parseKey(text: string): Key {
  const [cluster, kind, namespace, name, ...rest] = text.split('|');
  if (!cluster || !kind || namespace === undefined || !name || rest.length > 0) {
    throw new TerminalError(`not a workqueue key: ${JSON.stringify(text.slice(0, 200))}`);
  }
  return { cluster, kind, namespace, name };
}
