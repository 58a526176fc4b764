import type { GroupVersionKind } from '../../src/kernel/index.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A kind that the benchmarks fill an API server with. */
export interface BenchKind extends GroupVersionKind {
  readonly plural: string;
  /** What an object of the kind has besides `metadata`: as large as people's are, unlike its neighbours'. */
  readonly fields: (index: number) => Fields;
  /** What its controller writes, with a field manager of its own. */
  readonly status?: (index: number) => Fields;
}

const core = { group: '', version: 'v1' };
const apps = { group: 'apps', version: 'v1' };
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' };

const text = (index: number, length: number): string => `${index}-`.repeat(length).slice(0, length);
const selector = (index: number): Fields => ({ matchLabels: { 'app.kubernetes.io/instance': `app-${index}` } });

function podTemplate(index: number): Fields {
  return {
    metadata: {
      labels: { 'app.kubernetes.io/instance': `app-${index}`, 'app.kubernetes.io/name': 'shop' },
      annotations: { 'prometheus.io/scrape': 'true', 'checksum/config': text(index, 64) },
    },
    spec: {
      serviceAccountName: `app-${index}`,
      containers: [
        {
          name: 'app',
          image: `registry.example.com/team/shop:${index}`,
          args: ['--listen=:8080', `--instance=${index}`],
          ports: [{ name: 'http', containerPort: 8080 }],
          env: [
            { name: 'LOG_LEVEL', value: 'info' },
            { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: `app-${index}`, key: 'password' } } },
          ],
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
          readinessProbe: { httpGet: { path: '/ready', port: 'http' } },
          volumeMounts: [{ name: 'config', mountPath: '/etc/app' }],
        },
      ],
      volumes: [{ name: 'config', configMap: { name: `app-${index}` } }],
    },
  };
}

const CONFIG_MAP: BenchKind = {
  ...core,
  kind: 'ConfigMap',
  plural: 'configmaps',
  fields: (index) => ({ data: { 'settings.yaml': text(index, 700), 'limits.yaml': text(index, 200), mode: 'fast' } }),
};

const DEPLOYMENT: BenchKind = {
  ...apps,
  kind: 'Deployment',
  plural: 'deployments',
  fields: (index) => ({ spec: { replicas: 3, selector: selector(index), template: podTemplate(index) } }),
  status: () => ({
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    conditions: [
      {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      },
    ],
  }),
};

/** One that is mostly text, one that is mostly structure. */
export const SYNC_KINDS: readonly BenchKind[] = [CONFIG_MAP, DEPLOYMENT];

/** What a namespace of a real cluster is made of. */
export const COLD_START_KINDS: readonly BenchKind[] = [
  ...SYNC_KINDS,
  {
    ...core,
    kind: 'Secret',
    plural: 'secrets',
    fields: (index) => ({ stringData: { password: text(index, 32), 'ca.crt': text(index, 900) } }),
  },
  { ...core, kind: 'ServiceAccount', plural: 'serviceaccounts', fields: () => ({}) },
  {
    ...apps,
    kind: 'StatefulSet',
    plural: 'statefulsets',
    fields: (index) => ({
      spec: { serviceName: `app-${index}`, replicas: 3, selector: selector(index), template: podTemplate(index) },
    }),
  },
  {
    ...apps,
    kind: 'DaemonSet',
    plural: 'daemonsets',
    fields: (index) => ({ spec: { selector: selector(index), template: podTemplate(index) } }),
  },
  {
    group: 'batch',
    version: 'v1',
    kind: 'CronJob',
    plural: 'cronjobs',
    fields: (index) => ({ spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: jobTemplate(index) } } } }),
  },
  {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    fields: (index) => ({
      spec: {
        podSelector: selector(index),
        ingress: [{ from: [{ podSelector: selector(index + 1) }], ports: [{ port: 8080, protocol: 'TCP' }] }],
        policyTypes: ['Ingress'],
      },
    }),
  },
  {
    ...rbac,
    kind: 'Role',
    plural: 'roles',
    fields: (index) => ({
      rules: [
        { apiGroups: [''], resources: ['configmaps'], resourceNames: [`app-${index}`], verbs: ['get', 'watch'] },
        { apiGroups: ['apps'], resources: ['deployments', 'statefulsets'], verbs: ['get', 'list', 'watch'] },
      ],
    }),
  },
  {
    ...rbac,
    kind: 'RoleBinding',
    plural: 'rolebindings',
    fields: (index) => ({
      roleRef: { apiGroup: rbac.group, kind: 'Role', name: `app-${index}` },
      subjects: [{ kind: 'ServiceAccount', name: `app-${index}`, namespace: 'default' }],
    }),
  },
];

function jobTemplate(index: number): Fields {
  const template = podTemplate(index) as { metadata: Fields; spec: Fields };
  return { ...template, spec: { ...template.spec, restartPolicy: 'OnFailure' } };
}
