import { z } from 'zod';

import { conditionsSchema, lastHandledReconcileAtSchema, observedGenerationSchema } from './condition.ts';
import { dnsLabelSchema, dnsSubdomainSchema, HUB_CLUSTER_NAME } from './names.ts';
import { objectSchema, publishedKind, type ObjectOf } from './published-kind.ts';
import { withRules } from './rule.ts';

const kubeconfigSecretReferenceSchema = z.strictObject({
  name: dnsSubdomainSchema.describe("Name of the Secret, in Atoll's own namespace on the hub."),
  key: z.string().min(1).max(253).default('kubeconfig').describe('Key of the Secret that holds the kubeconfig.'),
});

const connectionSchema = z.strictObject({
  kubeconfigSecretRef: kubeconfigSecretReferenceSchema.describe(
    'A Secret with a kubeconfig: server, CA, and a token or client certificate, all inline. Commands, files, ' +
      'proxies and insecure TLS are refused.',
  ),
});

const requestLimitsSchema = z.strictObject({
  inFlight: z
    .int()
    .min(4)
    .max(256)
    .default(32)
    .describe(
      'Requests at a time. Lists take a quarter of them at most, all reads three quarters. Watches do not count.',
    ),
  perSecond: z
    .int()
    .min(1)
    .max(10_000)
    .default(1000)
    .describe(
      'Requests a second in the long run, watches that are opened included, renewals of Leases not. The default is more ' +
        'than an API server on two cores answers: a bound for mistakes, not for work.',
    ),
  burst: z
    .int()
    .min(1)
    .max(20_000)
    .exactOptional()
    .describe('How many requests may come at once after a quiet time. Twice perSecond when absent.'),
});

const specSchema = z.strictObject({
  connection: connectionSchema.describe('How Atoll reaches the cluster.'),
  installCRDs: z
    .boolean()
    .default(true)
    .describe('Whether Atoll installs the CRDs of its workload kinds in the cluster and keeps them up to date.'),
  requestLimits: requestLimitsSchema
    .exactOptional()
    .describe(
      "How much of the cluster's API server Atoll may take. A change is heeded by the next request. What the server " +
        'itself asks for by 429 and Retry-After is heeded as well, for all requests to this cluster and to no other.',
    ),
});

const statusSchema = z.strictObject({
  observedGeneration: observedGenerationSchema,
  conditions: conditionsSchema('Ready, Reachable, Authorized, IdentityKnown').exactOptional(),
  version: z.string().exactOptional().describe("Version of the cluster's API server."),
  uid: z
    .string()
    .exactOptional()
    .describe('UID of the namespace kube-system: the identity of the cluster, whatever it is called.'),
  owner: z.string().exactOptional().describe('The replica of Atoll that works the cluster.'),
  lastHandledReconcileAt: lastHandledReconcileAtSchema.exactOptional(),
});

/** The whole object. */
const memberClusterSchema = withRules(
  objectSchema({
    apiVersion: 'federation.atoll.dev/v1',
    kind: 'MemberCluster',
    description: 'A Kubernetes cluster that federated objects can be placed on, selected by its name or its labels.',
    spec: specSchema,
    status: statusSchema,
  }),
  {
    cel: "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && self.metadata.name.size() <= 63",
    field: ['metadata', 'name'],
    message: 'must be a DNS label of at most 63 characters',
    holds: ({ metadata }) => dnsLabelSchema.safeParse(metadata.name).success,
  },
  {
    cel: `self.metadata.name != '${HUB_CLUSTER_NAME}'`,
    field: ['metadata', 'name'],
    message: `must not be "${HUB_CLUSTER_NAME}", which is the hub's own name`,
    holds: ({ metadata }) => metadata.name !== HUB_CLUSTER_NAME,
  },
);

/** A member cluster, as the hub serves it. */
export type MemberCluster = ObjectOf<typeof memberClusterSchema>;

/** The kind MemberCluster. */
export const memberClusterKind = publishedKind({
  group: 'federation.atoll.dev',
  kind: 'MemberCluster',
  plural: 'memberclusters',
  scope: 'Cluster',
  location: 'hub',
  shortNames: ['mc'],
  categories: ['federation'],
  versions: [{ name: 'v1', schema: memberClusterSchema }],
  printerColumns: [
    {
      name: 'Ready',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].status',
      description: 'Whether the cluster can be worked.',
    },
    {
      name: 'Reason',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
      description: 'Why it can or cannot.',
    },
    { name: 'Version', type: 'string', jsonPath: '.status.version', description: 'Version of its API server.' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since it was created.' },
    {
      name: 'Owner',
      type: 'string',
      jsonPath: '.status.owner',
      description: 'The replica of Atoll that works it.',
      priority: 1,
    },
    {
      name: 'UID',
      type: 'string',
      jsonPath: '.status.uid',
      description: 'UID of its namespace kube-system.',
    },
    {
      name: 'Message',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].message',
      description: 'What is wrong, if anything.',
      priority: 1,
    },
  ],
});
