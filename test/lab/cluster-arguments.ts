import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterFiles, ClusterOptions } from './cluster-files.ts';

/** Who changed what, one line per request; reads are far too many, and nothing asks for them. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [{ level: 'None', verbs: ['get', 'list', 'watch'] }, { level: 'Metadata' }],
};

/** What a hub needs: owners' children and namespaces vanish, service accounts and aggregated roles appear. */
const hubControllers = [
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'clusterrole-aggregation-controller',
];

/** The defaults, but for what needs a metrics server. */
const memberControllers = ['*', '-horizontal-pod-autoscaler-controller'];

export function apiServerArguments(
  options: Pick<ClusterOptions, 'name' | 'etcdUrl' | 'audit'> & {
    readonly files: ClusterFiles;
    readonly server: string;
  },
): readonly string[] {
  const { files } = options;
  return [
    `--etcd-servers=${options.etcdUrl}`,
    `--etcd-prefix=/${options.name}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${new URL(options.server).port}`,
    `--tls-cert-file=${files.pki('server.crt')}`,
    `--tls-private-key-file=${files.pki('server.key')}`,
    `--client-ca-file=${files.pki('ca.crt')}`,
    '--authorization-mode=RBAC',
    `--service-account-issuer=${options.server}`,
    `--service-account-key-file=${files.pki('service-accounts.pub')}`,
    `--service-account-signing-key-file=${files.pki('service-accounts.key')}`,
    '--service-cluster-ip-range=10.0.0.0/16',
    '--endpoint-reconciler-type=none',
    '--profiling=false',
    ...(options.audit
      ? [`--audit-policy-file=${files.pki('audit-policy.json')}`, `--audit-log-path=${files.auditLog}`]
      : []),
  ];
}

export function controllerManagerArguments(
  role: ClusterOptions['role'],
  files: ClusterFiles,
  kubeconfig: string,
): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${(role === 'hub' ? hubControllers : memberControllers).join(',')}`,
    `--service-account-private-key-file=${files.pki('service-accounts.key')}`,
    `--root-ca-file=${files.pki('ca.crt')}`,
    '--use-service-account-credentials=true',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
    '--leader-elect=false',
    '--secure-port=0',
    '--profiling=false',
  ];
}

/** KWOK's kinds that say what a simulated pod answers to exec, logs and port-forward. */
const podAccess = ['Exec', 'ClusterExec', 'Logs', 'ClusterLogs', 'PortForward', 'ClusterPortForward'];

/**
 * `stages` holds KWOK's published definitions of how nodes, pods and volumes come to life, one YAML file each. On `port`
 * it answers the API server in the place of every node's kubelet. That port asks nobody who he is: it is this machine's
 * only, and runs and forwards nothing but what an object of `podAccess` allows for the very pod.
 */
export async function kwokArguments(stages: string, kubeconfig: string, port: number): Promise<readonly string[]> {
  const files = (await readdir(stages)).filter((file) => file.endsWith('.yaml')).toSorted();
  return [
    `--kubeconfig=${kubeconfig}`,
    '--manage-all-nodes=true',
    '--node-lease-duration-seconds=40',
    '--node-ip=127.0.0.1',
    `--node-port=${port}`,
    `--server-address=127.0.0.1:${port}`,
    `--enable-crds=${podAccess.join(',')}`,
    ...files.map((file) => `--config=${join(stages, file)}`),
  ];
}
