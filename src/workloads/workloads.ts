import { redisClusterWorkload } from './redis-cluster/redis-cluster-workload.ts';
import type { Workload } from './workload.ts';

/** All kinds that Atoll operates. */
export const workloads: readonly Workload[] = [redisClusterWorkload];
