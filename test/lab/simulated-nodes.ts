import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/index.ts';
import type { ApiServerRequests } from './api-server-requests.ts';

const readyTimeout = 120_000;

interface Node {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly taints?: readonly unknown[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface ApiResources {
  readonly resources?: readonly { readonly name: string }[];
}

/** Two nodes in two zones, answered for by KWOK; returns when pods can be scheduled to them. */
export async function addSimulatedNodes(requests: ApiServerRequests, cluster: string): Promise<void> {
  for (const zone of ['a', 'b']) await requests.create('/api/v1/nodes', simulatedNode(cluster, zone));
  await until(`the simulated nodes of ${cluster} are ready`, async () => {
    const { items } = JSON.parse(await requests.get('/api/v1/nodes')) as { items: readonly Node[] };
    return items.every(isSchedulable);
  });
}

/**
 * The kinds by which a test says what `kubectl exec`, `logs` and `port-forward` meet in a simulated pod: a process of
 * this machine, a file, a port. Without an object of theirs a pod refuses all three. They have to be served before KWOK
 * starts, which looks once.
 */
export async function addPodAccess(requests: ApiServerRequests, definitions: string): Promise<void> {
  const files = (await readdir(definitions)).toSorted();
  for (const file of files) {
    const text = await readFile(join(definitions, file), 'utf8');
    await requests.createFromYaml('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', text);
  }
  const plurals = files.map((file) => file.replace(/^kwok\.x-k8s\.io_(.*)\.yaml$/, '$1'));
  await until("KWOK's kinds are served", async () => {
    const group = JSON.parse(await requests.get('/apis/kwok.x-k8s.io/v1alpha1').catch(() => '{}')) as ApiResources;
    return plurals.every((plural) => group.resources?.some(({ name }) => name === plural));
  });
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = systemClock.monotonic() + readyTimeout;
  while (!(await isSo())) {
    if (systemClock.monotonic() > deadline) throw new Error(`not so within ${readyTimeout / 1000} s: ${what}`);
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
