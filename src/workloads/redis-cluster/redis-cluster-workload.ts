import { redisClusterKind } from '../../api/index.ts';
import type { RedisCluster } from '../../api/index.ts';
import type { PolicyRule } from '../../kernel/index.ts';
import type { Workload } from '../workload.ts';
import { redisClusterHealth } from './health.ts';
import { renderRedisCluster } from './render.ts';

const MANAGE = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

const rules: readonly PolicyRule[] = [
  { apiGroups: ['workloads.atoll.dev'], resources: ['redisclusters'], verbs: ['list', 'watch'] },
  { apiGroups: ['workloads.atoll.dev'], resources: ['redisclusters/status'], verbs: ['patch'] },
  // Asked for by the OwnerReferencesPermissionEnforcement plug-in, for children that block their owner's deletion.
  { apiGroups: ['workloads.atoll.dev'], resources: ['redisclusters/finalizers'], verbs: ['update'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: MANAGE },
  { apiGroups: [''], resources: ['services', 'configmaps', 'serviceaccounts'], verbs: MANAGE },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: MANAGE },
];

/** Redis: one master, the others replicate it. */
export const redisClusterWorkload: Workload = {
  kind: redisClusterKind,
  children: [
    { group: '', version: 'v1', kind: 'ServiceAccount' },
    { group: '', version: 'v1', kind: 'ConfigMap' },
    { group: '', version: 'v1', kind: 'Service' },
    { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' },
    { group: 'apps', version: 'v1', kind: 'StatefulSet' },
  ],
  // The member's API server has validated and defaulted the object by the same schema.
  render: (object) => renderRedisCluster(object as unknown as RedisCluster),
  health: (object, children, observation) =>
    redisClusterHealth(object as unknown as RedisCluster, children, observation),
  rules,
};
