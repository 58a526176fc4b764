import { z } from 'zod';

import { conditionsSchema, observedGenerationSchema, timeSchema } from './condition.ts';
import { mapSchema } from './metadata.ts';
import { dnsSubdomainSchema, workloadNameRules } from './names.ts';
import { objectSchema, publishedKind, type ObjectOf } from './published-kind.ts';
import { quantitySchema } from './quantity.ts';
import { fixedAtCreation, withCel, withRules } from './rule.ts';
import { textSchema } from './text.ts';

const resourceNameSchema = textSchema(63, /^[a-z0-9./-]+$/, 'a resource such as cpu or memory');
const resourceListSchema = mapSchema(resourceNameSchema, quantitySchema, 16);

const resourcesSchema = z.strictObject({
  requests: resourceListSchema.exactOptional().describe('What each pod is guaranteed, such as cpu and memory.'),
  limits: resourceListSchema.exactOptional().describe('What each pod may use at most.'),
});

const storageSchema = z.strictObject({
  size: fixedAtCreation(quantitySchema).default('1Gi').describe('Size of the volume of each pod.'),
  storageClassName: fixedAtCreation(dnsSubdomainSchema)
    .exactOptional()
    .describe("Class of the volumes; the cluster's default class when absent."),
  onDelete: z
    .enum(['Retain', 'Delete'])
    .default('Delete')
    .describe('What becomes of the volumes when the RedisCluster is deleted.'),
});

const configKeySchema = textSchema(64, /^[a-z][a-z0-9-]*$/, 'the name of a setting of redis.conf');
const configValueSchema = textSchema(1024, /^[^\r\n]*$/, 'a single line');

// What the operator sets itself, and passwords, which belong in a Secret and not in a spec.
const RESERVED_SETTINGS = [
  'bind',
  'daemonize',
  'dir',
  'port',
  'protected-mode',
  'replicaof',
  'masterauth',
  'requirepass',
];

const configSchema = withRules(
  withCel(
    mapSchema(configKeySchema, configValueSchema, 128),
    "self.all(key, key.matches('^[a-z][a-z0-9-]*$'))",
    'key must be the name of a setting of redis.conf',
  ),
  {
    cel: `!self.exists(key, key in [${RESERVED_SETTINGS.map((name) => `'${name}'`).join(', ')}])`,
    message: `must not set ${RESERVED_SETTINGS.join(', ')}`,
    holds: (config) => !RESERVED_SETTINGS.some((name) => Object.hasOwn(config, name)),
  },
);

const specSchema = z.strictObject({
  replicas: z.int().min(1).max(15).default(3).describe('Number of Redis pods: one master, the others its replicas.'),
  version: textSchema(32, /^[0-9]+\.[0-9]+(\.[0-9]+)?$/, 'a version such as 8.2 or 8.2.1')
    .default('8.2')
    .describe('Version of Redis.'),
  image: textSchema(512, /^[^\s]+$/, 'a reference of a container image')
    .exactOptional()
    .describe('Image to run instead of the official one of the version.'),
  resources: resourcesSchema.exactOptional().describe('Compute resources of each pod.'),
  storage: storageSchema.prefault({}).describe('The volume of each pod.'),
  config: configSchema.exactOptional().describe('Further settings of redis.conf, each a name and its value.'),
});

const statusSchema = z.strictObject({
  observedGeneration: observedGenerationSchema,
  phase: z
    .enum(['Pending', 'Progressing', 'Scaling', 'Running', 'Failed'])
    .exactOptional()
    .describe('The state in one word.'),
  conditions: conditionsSchema('Ready, Available, Progressing, Degraded, Stalled, FieldsLeft').exactOptional(),
  replicas: z.int().min(0).exactOptional().describe('Number of pods that exist.'),
  readyReplicas: z.int().min(0).exactOptional().describe('Number of pods that are ready.'),
  currentVersion: z.string().exactOptional().describe('Version of Redis that all pods run.'),
  lastSuccessTime: timeSchema.exactOptional().describe('When the cluster last became ready.'),
  message: z.string().exactOptional().describe('What is wrong or awaited, if anything.'),
});

/** The whole object. */
const redisClusterSchema = withRules(
  objectSchema({
    apiVersion: 'workloads.atoll.dev/v1',
    kind: 'RedisCluster',
    description: 'A Redis operated by Atoll in the cluster that the object stands in.',
    spec: specSchema,
    status: statusSchema,
  }),
  ...workloadNameRules,
);

/** A Redis, as a member serves it. */
export type RedisCluster = ObjectOf<typeof redisClusterSchema>;

/** The kind RedisCluster. */
export const redisClusterKind = publishedKind({
  group: 'workloads.atoll.dev',
  kind: 'RedisCluster',
  plural: 'redisclusters',
  scope: 'Namespaced',
  location: 'member',
  // Not "rc": that is the ReplicationController's.
  shortNames: ['rdc'],
  categories: ['federation'],
  versions: [{ name: 'v1', schema: redisClusterSchema }],
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'The state in one word.' },
    { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', description: 'Pods wanted.' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas', description: 'Pods that are ready.' },
    { name: 'Version', type: 'string', jsonPath: '.status.currentVersion', description: 'Version that is run.' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since it was created.' },
    {
      name: 'Message',
      type: 'string',
      jsonPath: '.status.message',
      description: 'What is wrong or awaited, if anything.',
      priority: 1,
    },
  ],
});
