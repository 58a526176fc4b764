import { contentHash, MANAGED_BY, MANAGED_BY_LABEL } from '../../apply/index.ts';
import type { RedisCluster } from '../../api/index.ts';
import type { KubernetesObject } from '../../kernel/index.ts';
import { configurationFiles } from './configuration.ts';
import { namesOf } from './names.ts';
import { renderStatefulSet } from './stateful-set.ts';

/**
 * Everything that a RedisCluster runs on. The first pod is the master; the others find it by its name in the headless
 * Service. The client Service leads to the master; readers use the headless one.
 */
export function renderRedisCluster(cluster: RedisCluster): readonly KubernetesObject[] {
  const names = namesOf(cluster);
  const selector = { 'app.kubernetes.io/name': 'redis', 'app.kubernetes.io/instance': names.cluster };
  const files = configurationFiles(cluster);
  const meta = (name: string): KubernetesObject['metadata'] => ({
    name,
    namespace: cluster.metadata.namespace ?? '',
    labels: { ...selector, 'app.kubernetes.io/component': 'database', [MANAGED_BY_LABEL]: MANAGED_BY },
  });
  return [
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: meta(names.serviceAccount),
      automountServiceAccountToken: false,
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta(names.configMap), data: files },
    renderService(meta(names.headlessService), {
      clusterIP: 'None',
      // A replica must find the master before either is ready.
      publishNotReadyAddresses: true,
      selector,
    }),
    renderService(meta(names.clientService), {
      selector: { ...selector, 'statefulset.kubernetes.io/pod-name': names.master },
    }),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: meta(names.podDisruptionBudget),
      spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
    },
    renderStatefulSet(cluster, { metadata: meta(names.statefulSet), selector, configHash: contentHash(files) }),
  ];
}

function renderService(metadata: KubernetesObject['metadata'], spec: Record<string, unknown>): KubernetesObject {
  const ports = [{ name: 'redis', port: 6379, protocol: 'TCP', targetPort: 'redis' }];
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { ...spec, ports } };
}
