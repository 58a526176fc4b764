import type { KubernetesObject } from '../../src/kernel/index.ts';
import type { GitRepository, LabDescription } from '../lab/index.ts';
import { NAMESPACE } from './hub.ts';

/** The folder of the repository that a tenant's source reads. */
export const PATH = 'apps';
/** The name of a tenant's GitSource. */
export const SOURCE = 'apps';

/**
 * What a platform team applies once per tenant: the namespace, the tenant's service account and what it may do, the
 * right for Atoll to act as it and to read its Git credentials, and the GitSource.
 */
export function tenantObjects(lab: LabDescription, team: string, repository: GitRepository): KubernetesObject[] {
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: team } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'gitops', namespace: team } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: 'gitops', namespace: team },
      rules: [
        {
          apiGroups: ['federation.atoll.dev'],
          resources: ['federatedredisclusters'],
          verbs: ['get', 'create', 'patch', 'delete'],
        },
      ],
    },
    binding(team, 'gitops', { kind: 'Role', name: 'gitops' }, { name: 'gitops', namespace: team }),
    binding(
      team,
      'atoll-tenant',
      { kind: 'ClusterRole', name: 'atoll-tenant' },
      { name: 'atoll', namespace: NAMESPACE },
    ),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'git', namespace: team },
      stringData: { username: lab.git.username, password: lab.git.password, 'ca.crt': lab.git.ca },
    },
    {
      apiVersion: 'federation.atoll.dev/v1',
      kind: 'GitSource',
      metadata: { name: SOURCE, namespace: team },
      spec: {
        url: repository.url,
        ref: { branch: 'main' },
        path: PATH,
        interval: '30s',
        secretRef: { name: 'git' },
        serviceAccountName: 'gitops',
      },
    },
  ];
}

interface Reference {
  readonly kind: string;
  readonly name: string;
}

interface Account {
  readonly name: string;
  readonly namespace: string;
}

function binding(team: string, name: string, role: Reference, account: Account): KubernetesObject {
  const rbac = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace: team },
    roleRef: { apiGroup: rbac, ...role },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  };
}
