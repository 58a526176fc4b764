import { gvkOf } from '../../src/kernel/index.ts';
import type { PodReference } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, eventually, uniqueName } from './lab.ts';

const access = { apiVersion: 'kwok.x-k8s.io/v1alpha1' };

/** What is behind a pod of the lab, whose node is simulated. */
export interface ReachablePodOptions {
  readonly cluster: string;
  /** Ports of the pod, and the ports of this machine that answer for them. */
  readonly ports?: Readonly<Record<number, number>>;
}

/**
 * A running pod with the containers `main` and `closed`. In `main`, commands run as processes of this machine; `closed`
 * exists, but its node runs nothing in it.
 */
export async function createReachablePod({ cluster, ports = {} }: ReachablePodOptions): Promise<PodReference> {
  const client = adminClient(cluster);
  const namespace = await createNamespace(cluster);
  const pod = { namespace, name: uniqueName('pod') };
  const forwards = Object.entries(ports).map(([from, port]) => ({
    ports: [Number(from)],
    target: { address: '127.0.0.1', port },
  }));
  await client.create(
    { ...access, kind: 'Exec', metadata: pod, spec: { execs: [{ containers: ['main'], local: {} }] } },
    asTester,
  );
  await client.create({ ...access, kind: 'PortForward', metadata: pod, spec: { forwards } }, asTester);
  const containers = ['main', 'closed'].map((name) => ({ name, image: 'none' }));
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: pod,
    spec: { containers, automountServiceAccountToken: false },
  };
  // The namespace's service account is made by a controller, a moment after the namespace.
  await eventually(async () => {
    await client.create(object, asTester);
    return true;
  });
  await eventually(
    async () => {
      const live = await client.get({ gvk: gvkOf(object), ...pod });
      return (live?.['status'] as { phase?: string } | undefined)?.phase === 'Running';
    },
    { message: 'the pod does not run' },
  );
  return pod;
}
