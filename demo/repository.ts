/** What the sample GitOps repository holds, commit by commit. */

/** The path of the one object of the sample. */
export const SESSIONS = 'apps/sessions.yaml';

const readme = `# Sample GitOps repository

Atoll reads the folder \`apps\` of the branch \`main\`. Every file in it is a Kubernetes manifest.
`;

const first = `apiVersion: federation.atoll.dev/v1
kind: FederatedRedisCluster
metadata:
  name: sessions
spec:
  template:
    metadata:
      labels: {team: shop}
    spec:
      replicas: 3
      version: "8.2"
      resources:
        requests: {cpu: 100m, memory: 256Mi}
        limits: {memory: 256Mi}
      storage: {size: 1Gi}
  placement:
    selector:
      matchLabels: {tier: prod}
`;

const second = `apiVersion: federation.atoll.dev/v1
kind: FederatedRedisCluster
metadata:
  name: sessions
spec:
  template:
    metadata:
      labels: {team: shop}
    spec:
      replicas: 3
      version: "8.2"
      resources:
        requests: {cpu: 100m, memory: 256Mi}
        limits: {memory: 256Mi}
      storage: {size: 1Gi}
      config: {maxmemory-policy: allkeys-lru}
  placement:
    clusters: [ap-1]
    selector:
      matchLabels: {tier: prod}
  overrides:
    - name: eu-memory
      selector:
        matchLabels: {region: eu}
      patches:
        - {op: replace, path: /spec/resources/limits/memory, value: 512Mi}
`;

/** The first commit: one Redis cluster in every production cluster. */
export const firstCommit: Readonly<Record<string, string>> = { 'README.md': readme, [SESSIONS]: first };

/** The second: a setting changed everywhere, more memory in Europe, and one cluster more by name. */
export const secondCommit: Readonly<Record<string, string>> = { [SESSIONS]: second };

/** A commit that cannot be applied: a misspelt field. */
export const brokenCommit: Readonly<Record<string, string>> = {
  [SESSIONS]: second.replace('replicas: 3', 'replcias: 3'),
};
