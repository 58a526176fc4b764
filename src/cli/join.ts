import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { joinCluster } from '../clusters/index.ts';
import { AtollError, noMetrics, silentLogger, systemClock } from '../kernel/index.ts';
import { KubernetesClient, parseKubeconfig } from '../kubernetes/index.ts';
import type { Connection } from '../kubernetes/index.ts';
import { memberRules } from '../roles.ts';

/** How `atoll join` is called. */
export const joinUsage =
  'atoll join NAME --hub-kubeconfig FILE --kubeconfig FILE [--server URL] [--labels region=eu,tier=prod] [--namespace atoll-system]';

/**
 * `atoll join`: makes a cluster a member of the hub. Both kubeconfigs are the caller's own, with an inline token or
 * client certificate; Atoll gets a service account of its own in the member.
 */
export async function join(parameters: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...parameters],
    allowPositionals: true,
    options: {
      'hub-kubeconfig': { type: 'string' },
      kubeconfig: { type: 'string' },
      server: { type: 'string' },
      labels: { type: 'string', default: '' },
      namespace: { type: 'string', default: 'atoll-system' },
    },
  });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1) throw new AtollError(`usage: ${joinUsage}`);
  const hub = open('hub', readConnection('--hub-kubeconfig', values['hub-kubeconfig']));
  const connection = readConnection('--kubeconfig', values.kubeconfig);
  const member = open(name, connection);
  try {
    await joinCluster({
      hub,
      member,
      connection: { ...connection, server: values.server ?? connection.server },
      name,
      labels: parseLabels(values.labels),
      namespace: values.namespace,
      rules: memberRules,
      progress: (line) => process.stdout.write(`${line}\n`),
    });
  } finally {
    await Promise.all([hub.close(), member.close()]);
  }
}

function readConnection(option: string, file: string | undefined): Connection {
  if (file === undefined) throw new AtollError(`${option} is required; usage: ${joinUsage}`);
  return parseKubeconfig(readFileSync(file, 'utf8'));
}

function open(cluster: string, connection: Connection): KubernetesClient {
  return new KubernetesClient({
    cluster,
    connection,
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    metrics: noMetrics,
  });
}

/** "region=eu,tier=prod" */
function parseLabels(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', value, ...rest] = pair.split('=');
      if (key === '' || value === undefined || rest.length > 0) {
        throw new AtollError(`--labels: ${JSON.stringify(pair)} is not KEY=VALUE`);
      }
      return [key, value];
    }),
  );
}
