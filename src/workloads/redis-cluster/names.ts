import type { RedisCluster } from '../../api/index.ts';

/** The names of a RedisCluster's children. Its own name has at most 40 characters, which leaves room for these. */
export interface ChildNames {
  readonly cluster: string;
  readonly statefulSet: string;
  readonly clientService: string;
  readonly headlessService: string;
  readonly configMap: string;
  readonly podDisruptionBudget: string;
  readonly serviceAccount: string;
  /** The pod that is the master. */
  readonly master: string;
}

/** Names the children of a RedisCluster. */
export function namesOf({ metadata: { name } }: RedisCluster): ChildNames {
  return {
    cluster: name,
    statefulSet: name,
    clientService: name,
    headlessService: `${name}-headless`,
    configMap: `${name}-config`,
    podDisruptionBudget: name,
    serviceAccount: name,
    master: `${name}-0`,
  };
}
