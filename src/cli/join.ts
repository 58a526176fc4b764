import { parseArgs } from 'node:util';
import { joinCluster } from '../clusters/index.ts';
import { mergeRules, noMetrics, silentLogger, systemClock } from '../kernel/index.ts';
import { KubernetesClient, userConnection } from '../kubernetes/index.ts';
import type { Connection } from '../kubernetes/index.ts';
import { memberRules, memberTenantRules } from '../roles.ts';
import { joinUsage } from './join-usage.ts';
import { parseLabels } from './labels.ts';
import { UsageError } from './usage-error.ts';

/**
 * `atoll join`: makes a cluster a member of the hub. Both kubeconfigs are the caller's own and may be anything that
 * kubectl takes, credential plugins included; Atoll gets a service account of its own in the member.
 */
export async function join(parameters: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...parameters],
    allowPositionals: true,
    options: {
      'hub-kubeconfig': { type: 'string' },
      'hub-context': { type: 'string' },
      kubeconfig: { type: 'string' },
      context: { type: 'string' },
      server: { type: 'string' },
      labels: { type: 'string', default: '' },
      namespace: { type: 'string', default: 'atoll-system' },
      fence: { type: 'boolean' },
    },
    allowNegative: true,
  });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1) {
    const given = positionals.length === 0 ? 'none' : positionals.join(', ');
    throw new UsageError(`one NAME is expected, not ${given}; usage:\n  ${joinUsage}`);
  }
  const labels = parseLabels(values.labels);
  const hubFile = required('--hub-kubeconfig', values['hub-kubeconfig']);
  const memberFile = required('--kubeconfig', values.kubeconfig);
  const hub = open('hub', await userConnection(hubFile, values['hub-context']));
  const connection = await userConnection(memberFile, values.context);
  const member = open(name, connection);
  try {
    await joinCluster({
      hub,
      member,
      connection: { ...connection, server: values.server ?? connection.server },
      name,
      labels,
      namespace: values.namespace,
      rules: mergeRules(memberRules),
      tenantRules: mergeRules(memberTenantRules),
      fence: values.fence,
      progress: (line) => process.stdout.write(`${line}\n`),
    });
  } finally {
    await Promise.all([hub.close(), member.close()]);
  }
}

function required(option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${option} is required; usage:\n  ${joinUsage}`);
  return value;
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
