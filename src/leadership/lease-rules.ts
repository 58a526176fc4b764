import type { PolicyRule } from '../kernel/index.ts';

/** What keeping epochs needs in Atoll's own namespace on the hub: one Lease per shard, read and replaced as a whole. */
export const leaseRules: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];
