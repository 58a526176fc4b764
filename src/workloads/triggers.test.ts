import { describe, expect, it } from 'vitest';
import type { KubernetesObject, OwnerReference } from '../kernel/index.ts';
import { redisClusterWorkload } from './redis-cluster/redis-cluster-workload.ts';
import { triggersOf } from './triggers.ts';
import type { Trigger } from './triggers.ts';

const triggers = triggersOf(redisClusterWorkload, 'eu-1');
const key = { cluster: 'eu-1', kind: 'RedisCluster.workloads.atoll.dev', namespace: 'shop', name: 'sessions' };

function triggerFor(kind: string): Trigger {
  const trigger = triggers.find(({ gvk }) => gvk.kind === kind);
  if (trigger === undefined) throw new Error(`${kind} triggers nothing`);
  return trigger;
}

function statefulSetOwnedBy(...ownerReferences: readonly Partial<OwnerReference>[]): KubernetesObject {
  const complete = ownerReferences.map((reference) => ({
    apiVersion: 'workloads.atoll.dev/v1',
    kind: 'RedisCluster',
    name: 'sessions',
    uid: 'u',
    controller: true,
    ...reference,
  }));
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'sessions', namespace: 'shop', ownerReferences: complete },
  };
}

describe('the triggers of a workload', () => {
  it('are its own kind, unrestricted, and its children, by label', () => {
    expect(triggerFor('RedisCluster').scope).toEqual({});
    const children = triggers.filter(({ gvk }) => gvk.kind !== 'RedisCluster');
    expect(children.map(({ gvk }) => gvk)).toEqual(redisClusterWorkload.children);
    for (const { scope } of children) expect(scope).toEqual({ labelSelector: 'app.kubernetes.io/managed-by=atoll' });
  });

  it('lead from an object to its own key', () => {
    const object = { apiVersion: 'workloads.atoll.dev/v1', kind: 'RedisCluster' };
    const metadata = { name: 'sessions', namespace: 'shop' };
    expect(triggerFor('RedisCluster').keyOf({ ...object, metadata })).toEqual(key);
  });

  it('lead from a child to the key of the owner that controls it, in whichever version', () => {
    const child = statefulSetOwnedBy({ name: 'other', controller: false }, { apiVersion: 'workloads.atoll.dev/v2' });
    expect(triggerFor('StatefulSet').keyOf(child)).toEqual(key);
  });

  it.each<[string, readonly Partial<OwnerReference>[]]>([
    ['nobody', []],
    ['somebody who does not control it', [{ controller: false }]],
    ['another kind', [{ kind: 'WebApp' }]],
    ['the same kind of another group', [{ apiVersion: 'example.com/v1' }]],
  ])('lead nowhere from an object of %s', (_, references) => {
    expect(triggerFor('StatefulSet').keyOf(statefulSetOwnedBy(...references))).toBeUndefined();
  });
});
