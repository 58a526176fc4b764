import { describe, expect, it } from 'vitest';
import type { RedisCluster } from '../../api/index.ts';
import { formatGvk, gvkOf } from '../../kernel/index.ts';
import type { KubernetesObject } from '../../kernel/index.ts';
import { redisClusterWorkload } from './redis-cluster-workload.ts';
import { renderRedisCluster } from './render.ts';

function redisCluster(spec: Partial<RedisCluster['spec']> = {}, name = 'sessions'): RedisCluster {
  return {
    apiVersion: 'workloads.atoll.dev/v1',
    kind: 'RedisCluster',
    metadata: { name, namespace: 'shop', uid: 'u', generation: 1 },
    spec: { replicas: 3, version: '8.2', storage: { size: '1Gi', onDelete: 'Delete' }, ...spec },
  };
}

function childOf(cluster: RedisCluster, kind: string, name?: string): KubernetesObject {
  const child = renderRedisCluster(cluster).find(
    (candidate) => candidate.kind === kind && (name === undefined || candidate.metadata.name === name),
  );
  if (child === undefined) throw new Error(`${kind} is not rendered`);
  return child;
}

/** The value at a path such as `spec.template.spec.containers.0.image`. */
function at(object: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], object);
}

function configHash(cluster: RedisCluster): unknown {
  const template = at(childOf(cluster, 'StatefulSet'), 'spec.template.metadata.annotations');
  return (template as Record<string, string>)['atoll.dev/config-hash'];
}

describe('a rendered RedisCluster', () => {
  it('is the same to the byte for equal objects, whatever their metadata and status', () => {
    const first = redisCluster({ config: { maxmemory: '1gb', appendonly: 'no' } });
    const second: RedisCluster = {
      ...redisCluster({ config: { appendonly: 'no', maxmemory: '1gb' } }),
      metadata: { name: 'sessions', namespace: 'shop', resourceVersion: '77', generation: 5 },
      status: { observedGeneration: 4, phase: 'Running' },
    };
    expect(JSON.stringify(renderRedisCluster(second))).toBe(JSON.stringify(renderRedisCluster(first)));
  });

  it('consists of declared kinds only, all in its namespace and labelled as its own', () => {
    const declared = redisClusterWorkload.children.map((gvk) => formatGvk(gvk));
    for (const child of renderRedisCluster(redisCluster())) {
      expect(declared).toContain(formatGvk(gvkOf(child)));
      expect(child.metadata.namespace).toBe('shop');
      expect(child.metadata.labels).toMatchObject({
        'app.kubernetes.io/name': 'redis',
        'app.kubernetes.io/instance': 'sessions',
        'app.kubernetes.io/managed-by': 'atoll',
      });
    }
  });

  it('never holds null or undefined, which an API server would not keep', () => {
    const text = JSON.stringify(renderRedisCluster(redisCluster()), (_, value: unknown) =>
      value === undefined ? 'UNDEFINED' : value,
    );
    expect(text).not.toMatch(/null|UNDEFINED/);
  });

  it('gives every child a name of at most 63 characters, even for the longest name', () => {
    const children = renderRedisCluster(redisCluster({}, 'x'.repeat(40)));
    for (const { metadata } of children) expect(metadata.name?.length).toBeLessThanOrEqual(63);
  });

  it('rolls the pods when the configuration changes, and only then', () => {
    const before = configHash(redisCluster());
    expect(configHash(redisCluster({ config: { maxmemory: '1gb' } }))).not.toBe(before);
    expect(configHash(redisCluster({ replicas: 5, resources: { limits: { memory: '1Gi' } } }))).toBe(before);
  });

  it('lets settings override defaults, but not what the pods rely on', () => {
    const settings = { appendonly: 'no', port: '7000', 'maxmemory-policy': 'allkeys-lru' };
    const data = childOf(redisCluster({ config: settings }), 'ConfigMap')['data'] as { 'redis.conf': string };
    const lines = data['redis.conf'].trimEnd().split('\n');
    const effective = new Map(lines.map((line) => line.split(/ (.*)/, 2) as [string, string]));
    expect(effective.get('appendonly')).toBe('no');
    expect(effective.get('maxmemory-policy')).toBe('allkeys-lru');
    expect(effective.get('port')).toBe('6379');
  });

  it('makes the first pod the master, which the others and the client Service find by name', () => {
    const { 'start.sh': script } = childOf(redisCluster(), 'ConfigMap')['data'] as { 'start.sh': string };
    expect(script).toContain('--replicaof sessions-0.sessions-headless.shop.svc 6379');
    const service = childOf(redisCluster(), 'Service', 'sessions');
    expect(at(service, 'spec.selector')).toMatchObject({ 'statefulset.kubernetes.io/pod-name': 'sessions-0' });
    expect(at(childOf(redisCluster(), 'StatefulSet'), 'spec.serviceName')).toBe('sessions-headless');
    expect(at(childOf(redisCluster(), 'Service', 'sessions-headless'), 'spec.clusterIP')).toBe('None');
  });

  it.each([
    ['the official image of the version', {}, 'redis:8.2'],
    ['the image asked for', { image: 'registry.example.com/redis:custom' }, 'registry.example.com/redis:custom'],
  ])('runs %s', (_, spec, image) => {
    const statefulSet = childOf(redisCluster(spec), 'StatefulSet');
    expect(at(statefulSet, 'spec.template.spec.containers.0.image')).toBe(image);
    expect(at(statefulSet, 'spec.template.metadata.labels')).toMatchObject({ 'app.kubernetes.io/version': '8.2' });
  });

  it.each(['Delete', 'Retain'] as const)('treats volumes as storage.onDelete: %s says', (onDelete) => {
    const storage = { size: '5Gi', storageClassName: 'fast', onDelete };
    const statefulSet = childOf(redisCluster({ storage }), 'StatefulSet');
    expect(at(statefulSet, 'spec.persistentVolumeClaimRetentionPolicy.whenDeleted')).toBe(onDelete);
    expect(at(statefulSet, 'spec.volumeClaimTemplates.0.spec')).toMatchObject({
      storageClassName: 'fast',
      resources: { requests: { storage: '5Gi' } },
    });
  });

  it('meets the restricted pod security standard and mounts no token', () => {
    const pod = at(childOf(redisCluster(), 'StatefulSet'), 'spec.template.spec');
    expect(at(pod, 'securityContext')).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(at(pod, 'containers.0.securityContext')).toMatchObject({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    expect(at(pod, 'automountServiceAccountToken')).toBe(false);
    expect(childOf(redisCluster(), 'ServiceAccount')['automountServiceAccountToken']).toBe(false);
  });
});
