import { joinCluster } from '../../src/clusters/index.ts';
import { mergeRules, noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { ForbiddenError, KubernetesClient, parseKubeconfig, writeAs } from '../../src/kubernetes/index.ts';
import type { Connection } from '../../src/kubernetes/index.ts';
import { memberRules, memberTenantRules } from '../../src/roles.ts';
import { auditEvents } from './audit-log.ts';
import type { AuditEvent } from './audit-log.ts';
import { FaultProxy } from './fault-proxy.ts';
import { adminClient, asTester, eventually } from './lab.ts';
import type { MemberRegistry } from './member-registry.ts';
import { OwnCluster } from './own-cluster.ts';

const RBAC = 'rbac.authorization.k8s.io';
const SECRET = { group: '', version: 'v1', kind: 'Secret' };

/** A member for tests of its fence: with an API server of its own, because a fence looks at every request. */
export class FencedMember {
  readonly cluster: OwnCluster;
  /** Between the replicas and the member. */
  readonly proxy: FaultProxy;

  private constructor(cluster: OwnCluster, proxy: FaultProxy) {
    this.cluster = cluster;
    this.proxy = proxy;
  }

  static async start(): Promise<FencedMember> {
    const cluster = await OwnCluster.start({ audit: true });
    const { server, caData = '' } = parseKubeconfig(cluster.description.kubeconfig);
    return new FencedMember(cluster, await FaultProxy.start({ server, caData }));
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    await this.cluster.stop();
  }

  /** As `atoll join` does it. A fence that was put up is in force when this ends. */
  async join({ name, namespace }: MemberRegistry, fence?: boolean): Promise<void> {
    const { token: _, ...connection } = this.proxy.connection;
    await joinCluster({
      hub: adminClient('hub'),
      member: this.cluster.admin,
      connection,
      name,
      labels: {},
      namespace,
      rules: mergeRules(memberRules),
      tenantRules: mergeRules(memberTenantRules),
      fence,
      progress: () => undefined,
    });
    if (fence === true) await this.#inForce(name, namespace);
  }

  /** The kubeconfig that a join left on the hub. */
  async connection(name: string, namespace: string): Promise<Connection> {
    const secret = await adminClient('hub').get({ gvk: SECRET, namespace, name: `member-${name}` });
    const { kubeconfig = '' } = (secret?.['data'] ?? {}) as { kubeconfig?: string };
    return parseKubeconfig(Buffer.from(kubeconfig, 'base64').toString('utf8'));
  }

  /** Sends something that changes nothing with Atoll's account, as an Atoll that knows of no fence would. */
  async writeUnstamped(name: string, namespace: string): Promise<void> {
    const client = clientOf(await this.connection(name, namespace));
    const write = writeAs('test', { guard: () => undefined });
    try {
      await client.apply(configMap(namespace, 'trial'), write, { dryRun: true });
    } finally {
      await client.close();
    }
  }

  /** Gives a namespace a tenant `deployer`, and lets Atoll act as it. */
  async admitTenant(tenancy: string, namespace: string): Promise<void> {
    for (const object of tenantObjects(tenancy, namespace)) await this.cluster.admin.create(object, asTester);
  }

  /** The mutating requests to a namespace that were answered so far. */
  async answered(namespace: string): Promise<readonly AuditEvent[]> {
    const events = await auditEvents(this.cluster.description);
    return events.filter(({ objectRef }) => objectRef?.namespace === namespace);
  }

  /** An API server takes up a policy up to a second after it was made. */
  async #inForce(name: string, namespace: string): Promise<void> {
    await eventually(
      async () => {
        const error = await this.writeUnstamped(name, namespace).catch((reason: unknown) => reason);
        return error instanceof ForbiddenError && error.message.includes('bears no epoch');
      },
      { timeout: 30_000, message: 'the fence does not come into force' },
    );
  }
}

/** A client, closed by who asked for it. */
function clientOf(connection: Connection): KubernetesClient {
  return new KubernetesClient({
    cluster: 'own',
    connection,
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    metrics: noMetrics,
  });
}

export function configMap(namespace: string, name: string, text = 'as it was'): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { text } };
}

function tenantObjects(tenancy: string, namespace: string): readonly KubernetesObject[] {
  const apiVersion = `${RBAC}/v1`;
  const deployer = { name: 'deployer', namespace: tenancy };
  const atoll = { kind: 'ServiceAccount', name: 'atoll', namespace };
  const rules = [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'patch'] },
    { apiGroups: [''], resources: ['pods/exec'], verbs: ['get', 'create'] },
  ];
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: tenancy } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: deployer },
    { apiVersion, kind: 'Role', metadata: deployer, rules },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: deployer,
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'deployer' },
      subjects: [{ kind: 'ServiceAccount', ...deployer }],
    },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name: 'atoll-tenant', namespace: tenancy },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'atoll-tenant' },
      subjects: [atoll],
    },
  ];
}
