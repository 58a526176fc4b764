import type { KubernetesObject } from '../../src/kernel/index.ts';

/** A rule of a CRD with an object that keeps it and one that breaks it. */
export interface RuleExample {
  readonly kind: string;
  /** What the API server answers, as in the CRD. */
  readonly message: string;
  readonly accepted: KubernetesObject;
  readonly refused: KubernetesObject;
}

type Fields = Readonly<Record<string, unknown>>;

export function memberCluster(name: string, connection: Fields): KubernetesObject {
  return { apiVersion: 'federation.atoll.dev/v1', kind: 'MemberCluster', metadata: { name }, spec: { connection } };
}

export function gitSource(spec: Fields = {}, name = 'shop'): KubernetesObject {
  return {
    apiVersion: 'federation.atoll.dev/v1',
    kind: 'GitSource',
    metadata: { name },
    spec: { url: 'https://git.example.com/shop.git', suspend: true, ...spec },
  };
}

export function redisCluster(spec: Fields = {}, name = 'sessions'): KubernetesObject {
  return { apiVersion: 'workloads.atoll.dev/v1', kind: 'RedisCluster', metadata: { name }, spec };
}

export function federated(spec: Fields = {}, name = 'sessions'): KubernetesObject {
  return {
    apiVersion: 'federation.atoll.dev/v1',
    kind: 'FederatedRedisCluster',
    metadata: { name },
    spec: { template: { spec: {} }, placement: {}, suspend: true, ...spec },
  };
}

function overridden(patch: Fields): KubernetesObject {
  return federated({ overrides: [{ name: 'a', selector: {}, patches: [patch] }] });
}

function placed(requirement: Fields): KubernetesObject {
  return federated({ placement: { selector: { matchExpressions: [requirement] } } });
}

const secret = { kubeconfigSecretRef: { name: 'eu-1' } };
const removal = { op: 'remove', path: '/spec/image' };

/** Every rule that can be broken by a single object, at least once. */
export const ruleExamples: readonly RuleExample[] = [
  {
    kind: 'MemberCluster',
    message: 'metadata.name must be a DNS label of at most 63 characters',
    accepted: memberCluster('eu-1', secret),
    refused: memberCluster('eu.1', secret),
  },
  {
    kind: 'MemberCluster',
    message: 'metadata.name must not be "hub", which is the hub\'s own name',
    accepted: memberCluster('eu-1', secret),
    refused: memberCluster('hub', secret),
  },
  {
    kind: 'GitSource',
    message: 'must be relative to the root of the repository and must not contain ".."',
    accepted: gitSource({ path: './clusters/..data' }),
    refused: gitSource({ path: 'clusters/..' }),
  },
  {
    kind: 'GitSource',
    message: 'must be at least 10s',
    accepted: gitSource({ interval: '0.5m' }),
    refused: gitSource({ interval: '9999ms' }),
  },
  {
    kind: 'GitSource',
    message: 'must be at least 1s',
    accepted: gitSource({ timeout: '1s' }),
    refused: gitSource({ timeout: '0s' }),
  },
  ...[redisCluster, federated].flatMap((workload): RuleExample[] => {
    const { kind } = workload();
    return [
      {
        kind,
        message: 'metadata.name must have at most 40 characters',
        accepted: workload({}, 'a'.repeat(40)),
        refused: workload({}, 'a'.repeat(41)),
      },
      {
        kind,
        message: 'metadata.name must be a DNS-1035 label: lower-case letters, digits and "-", beginning with a letter',
        accepted: workload({}, 'a-1'),
        refused: workload({}, 'a.1'),
      },
    ];
  }),
  ...[redisCluster, (spec: Fields) => federated({ template: { spec } })].flatMap((withSpec): RuleExample[] => {
    const { kind } = withSpec({});
    return [
      {
        kind,
        message: 'key must be the name of a setting of redis.conf',
        accepted: withSpec({ config: { 'maxmemory-policy': 'allkeys-lru' } }),
        refused: withSpec({ config: { 'maxmemory policy': 'allkeys-lru' } }),
      },
      {
        kind,
        message: 'must not set bind, daemonize, dir, port, protected-mode, replicaof, masterauth, requirepass',
        accepted: withSpec({ config: { maxmemory: '1gb' } }),
        refused: withSpec({ config: { dir: '/tmp' } }),
      },
    ];
  }),
  {
    kind: 'FederatedRedisCluster',
    message: 'values must be given for In and NotIn, and only for them',
    accepted: placed({ key: 'tier', operator: 'In', values: ['prod'] }),
    refused: placed({ key: 'tier', operator: 'In', values: [] }),
  },
  {
    kind: 'FederatedRedisCluster',
    message: 'values must be given for In and NotIn, and only for them',
    accepted: placed({ key: 'tier', operator: 'Exists' }),
    refused: placed({ key: 'tier', operator: 'Exists', values: ['prod'] }),
  },
  {
    kind: 'FederatedRedisCluster',
    message: 'every override must have a name of its own',
    accepted: federated({ overrides: ['a', 'b'].map((name) => ({ name, selector: {}, patches: [removal] })) }),
    refused: federated({ overrides: ['a', 'a'].map((name) => ({ name, selector: {}, patches: [removal] })) }),
  },
  {
    kind: 'FederatedRedisCluster',
    message: 'clusters or selector must say where the override is for; selector {} is for all clusters',
    accepted: federated({ overrides: [{ name: 'a', clusters: ['eu-1'], patches: [removal] }] }),
    refused: federated({ overrides: [{ name: 'a', patches: [removal] }] }),
  },
  {
    kind: 'FederatedRedisCluster',
    message: 'from must be given for copy and move, and only for them',
    accepted: overridden({ op: 'copy', from: '/metadata/name', path: '/metadata/labels/app' }),
    refused: overridden({ op: 'copy', path: '/metadata/labels/app' }),
  },
  {
    kind: 'FederatedRedisCluster',
    message: 'path must lead to the spec, or to labels or annotations: identity and status cannot be overridden',
    accepted: overridden({ op: 'test', path: '/metadata/name', value: 'sessions' }),
    refused: overridden({ op: 'replace', path: '/metadata/name', value: 'other' }),
  },
  {
    kind: 'FederatedRedisCluster',
    message: 'from must not move away identity or status',
    accepted: overridden({ op: 'move', from: '/metadata/labels/a', path: '/metadata/labels/b' }),
    refused: overridden({ op: 'move', from: '/metadata', path: '/spec/config' }),
  },
];

/** Rules about a change: they need two objects, see the test of immutable fields. */
export const changeRuleMessages: readonly string[] = ['cannot be changed after creation'];
