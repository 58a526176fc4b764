import { describe, expect, it } from 'vitest';
import { added, deleted } from '../../test/support/builders.ts';
import type { Event } from '../../test/support/builders.ts';
import { playEvent } from '../../test/support/play-event.ts';
import { PlayedInformers } from '../../test/support/played-informers.ts';
import { noMetrics, silentLogger, systemClock } from '../kernel/index.ts';
import type { GroupVersionKind } from '../kernel/index.ts';
import { redisClusterWorkload } from './redis-cluster/redis-cluster-workload.ts';
import { workloadController } from './workload-controller.ts';

const apiVersion = 'workloads.atoll.dev/v1';
const metadata = { name: 'sessions', namespace: 'shop', uid: 'u' };
const ownerReferences = [{ apiVersion, kind: 'RedisCluster', name: 'sessions', uid: 'u', controller: true }];

describe('the controller of a workload', () => {
  it('watches its own kind, unrestricted, and its children, by label', () => {
    const informers = new PlayedInformers();
    workloadController(redisClusterWorkload).attach({
      cluster: 'eu-1',
      informers,
      queue: { add: () => undefined },
      clock: systemClock,
      logger: silentLogger,
      metrics: noMetrics,
    });
    const scope = { labelSelector: 'app.kubernetes.io/managed-by=atoll' };
    expect(informers.all().map((informer) => [informer.gvk, informer.scope])).toEqual([
      [redisClusterWorkload.kind.gvk, {}],
      ...redisClusterWorkload.children.map((gvk) => [gvk, scope]),
    ]);
  });

  it.each<[string, GroupVersionKind, Event]>([
    ['itself', redisClusterWorkload.kind.gvk, added({ apiVersion, kind: 'RedisCluster', metadata })],
    ...redisClusterWorkload.children.map((gvk): [string, GroupVersionKind, Event] => {
      const child = { apiVersion: 'v1', kind: gvk.kind, metadata: { ...metadata, name: 'child', ownerReferences } };
      return [`its ${gvk.kind}`, gvk, deleted(child)];
    }),
  ])('is led to an object by %s', (_, gvk, event) => {
    const controllers = [workloadController(redisClusterWorkload)];
    expect(playEvent({ cluster: 'eu-1', controllers, gvk, event })).toEqual(['eu-1 RedisCluster shop/sessions event']);
  });
});
