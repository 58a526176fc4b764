import type { KubernetesObject, PolicyRule } from '../../src/kernel/index.ts';
import type { Connection, ObjectReference } from '../../src/kubernetes/index.ts';
import { parseKubeconfig } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, labCluster, uniqueName } from './lab.ts';

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };

/** A service account that may do exactly what some rules say, everywhere in its cluster. */
export interface BoundServiceAccount {
  readonly connection: Connection;
  /** As API servers name it. */
  readonly username: string;
  /** Takes the rights away again. */
  remove(): Promise<void>;
}

export async function serviceAccountWith(cluster: string, rules: readonly PolicyRule[]): Promise<BoundServiceAccount> {
  const client = adminClient(cluster);
  const namespace = await createNamespace(cluster);
  const name = uniqueName('test');
  const created = await Promise.all(objectsOf(name, namespace, rules).map((object) => client.create(object, asTester)));
  const account: ObjectReference = { gvk: { group: '', version: 'v1', kind: 'ServiceAccount' }, namespace, name };
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const answer = await client.createSubresource(account, 'token', request, asTester);
  const { token } = answer['status'] as { token: string };
  const { server, caData = '' } = parseKubeconfig(labCluster(cluster).kubeconfig);
  return {
    connection: { server, caData, token },
    username: `system:serviceaccount:${namespace}:${name}`,
    remove: async () => {
      for (const { kind, metadata } of created.filter((object) => object.kind.startsWith('ClusterRole'))) {
        await client.delete({ gvk: { ...RBAC, kind }, name }, { uid: metadata.uid ?? '' }, asTester);
      }
    },
  };
}

function objectsOf(name: string, namespace: string, rules: readonly PolicyRule[]): KubernetesObject[] {
  const apiVersion = `${RBAC.group}/${RBAC.version}`;
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: RBAC.group, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ];
}
