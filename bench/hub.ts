import { noMetrics, silentLogger, systemClock } from '../src/kernel/index.ts';
import { KubernetesClient, parseKubeconfig } from '../src/kubernetes/index.ts';
import type { Connection, KubernetesClientOptions, WriteContext } from '../src/kubernetes/index.ts';
import { startLab } from '../test/lab/index.ts';
import type { Lab } from '../test/lab/index.ts';

/** A lab of one API server, with only the controllers that collect garbage: what is written stays as it was written. */
export async function onHub<T>(play: (lab: Lab) => Promise<T>): Promise<T> {
  const lab = await startLab({
    members: [],
    audit: false,
    workloads: false,
    progress: (line) => console.log(`  ${line}`),
  });
  try {
    return await play(lab);
  } finally {
    await lab.stop();
  }
}

/** How to reach the lab's API server as its administrator. */
export function connectionTo(lab: Lab): Connection {
  return parseKubeconfig(lab.hub.kubeconfig);
}

/** Options of a client that tells nobody what it does. */
export function clientOptions(connection: Connection): KubernetesClientOptions {
  return {
    cluster: 'bench',
    connection,
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    metrics: noMetrics,
    userAgent: 'atoll-bench',
  };
}

export function openClient(connection: Connection): KubernetesClient {
  return new KubernetesClient(clientOptions(connection));
}

/** What the benchmarks write as. */
export const asBench: WriteContext = { identity: { kind: 'self' }, fieldManager: 'bench', guard: () => undefined };
