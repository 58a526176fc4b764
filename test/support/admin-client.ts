import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import { KubernetesClient, parseKubeconfig } from '../../src/kubernetes/index.ts';
import type { LabCluster } from '../lab/index.ts';

/** A new client of a cluster of the lab, with all rights; to be closed by who asked for it. */
export function openAdmin(cluster: LabCluster): KubernetesClient {
  return new KubernetesClient({
    cluster: cluster.name,
    connection: parseKubeconfig(cluster.kubeconfig),
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    metrics: noMetrics,
    userAgent: 'atoll-test',
  });
}
