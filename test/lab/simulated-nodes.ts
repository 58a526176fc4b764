import { systemClock } from '../../src/kernel/index.ts';
import type { ApiServerRequests } from './api-server-requests.ts';

const readyTimeout = 120_000;

interface Node {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly taints?: readonly unknown[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Two nodes in two zones, answered for by KWOK; returns when pods can be scheduled to them. */
export async function addSimulatedNodes(requests: ApiServerRequests, cluster: string): Promise<void> {
  for (const zone of ['a', 'b']) await requests.create('/api/v1/nodes', simulatedNode(cluster, zone));
  const deadline = systemClock.monotonic() + readyTimeout;
  for (;;) {
    const { items } = JSON.parse(await requests.get('/api/v1/nodes')) as { items: readonly Node[] };
    if (items.every(isSchedulable)) return;
    if (systemClock.monotonic() > deadline) {
      throw new Error(`the simulated nodes of ${cluster} did not become ready within ${readyTimeout / 1000} s`);
    }
    await systemClock.sleep(200);
  }
}

/** The default storage class, of the name that KWOK's volume stages bind. */
export async function addStorageClass(requests: ApiServerRequests): Promise<void> {
  await requests.create('/apis/storage.k8s.io/v1/storageclasses', {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'kwok-volume', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'kwok.x-k8s.io/volume',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
  });
}

function simulatedNode(cluster: string, zone: string): Record<string, unknown> {
  const name = `${cluster}-${zone}`;
  const size = { cpu: '32', memory: '256Gi', pods: '500' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'topology.kubernetes.io/region': cluster,
        'topology.kubernetes.io/zone': `${cluster}${zone}`,
      },
    },
    status: { allocatable: size, capacity: size },
  };
}

function isSchedulable(node: Node): boolean {
  const ready = node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  return ready && (node.spec.taints ?? []).length === 0;
}
