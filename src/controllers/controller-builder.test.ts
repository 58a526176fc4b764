import { describe, expect, it } from 'vitest';
import { added, deleted, updated } from '../../test/support/builders.ts';
import type { Event } from '../../test/support/builders.ts';
import { playEvent } from '../../test/support/play-event.ts';
import { PlayedInformers } from '../../test/support/played-informers.ts';
import { done, noMetrics, silentLogger, systemClock } from '../kernel/index.ts';
import type { KubernetesObject, OwnerReference } from '../kernel/index.ts';
import { ControllerBuilder } from './controller-builder.ts';

const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' };
const REPLICA_SET = { group: 'apps', version: 'v1', kind: 'ReplicaSet' };
const SECRET = { group: '', version: 'v1', kind: 'Secret' };

/** Attaches, and answers which kinds are watched, in which scope. */
function watched(builder: ControllerBuilder): [string, unknown][] {
  const informers = new PlayedInformers();
  builder.attach({
    cluster: 'eu-1',
    informers,
    queue: { add: () => undefined },
    reconciler: () => () => Promise.resolve(done),
    clock: systemClock,
    logger: silentLogger,
    metrics: noMetrics,
  });
  return informers.all().map(({ gvk, scope }) => [gvk.kind, scope]);
}

describe('a builder', () => {
  it('watches what it is for, what that owns and what else leads to it, in their scopes', () => {
    const scope = { labelSelector: 'tier=prod' };
    const builder = ControllerBuilder.for(DEPLOYMENT)
      .owns(REPLICA_SET, { scope })
      .watches(SECRET, () => [], { scope: { namespace: 'shop' } });
    expect(watched(builder)).toEqual([
      ['Deployment', {}],
      ['ReplicaSet', scope],
      ['Secret', { namespace: 'shop' }],
    ]);
  });

  it('watches a kind once that is declared twice', () => {
    const builder = ControllerBuilder.for(DEPLOYMENT).watches(DEPLOYMENT, () => []);
    expect(watched(builder)).toEqual([['Deployment', {}]]);
  });
});

// controller-runtime, pkg/handler/eventhandler_test.go: EnqueueRequestForOwner with OnlyControllerOwner.
describe('an owned object leads to', () => {
  function replicaSetOf(...owners: readonly Partial<OwnerReference>[]): KubernetesObject {
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', controller: true };
    const ownerReferences = owners.map((difference) => ({ ...owner, ...difference }));
    const metadata = { name: 'web-1', namespace: 'shop', uid: 'r', ownerReferences };
    return { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata };
  }

  function keysAfter(event: Event, builder = ControllerBuilder.for(DEPLOYMENT)): string[] {
    return playEvent({ cluster: 'eu-1', controllers: [builder.owns(REPLICA_SET)], gvk: REPLICA_SET, event });
  }

  const web = 'eu-1 Deployment shop/web event';

  it.each<[string, readonly Partial<OwnerReference>[], string[]]>([
    ['the owner that controls it, in its own namespace', [{}], [web]],
    ['that owner only, among several', [{ name: 'other', controller: false }, {}], [web]],
    ['that owner, whatever the version', [{ apiVersion: 'apps/v1beta2' }], [web]],
    ['nobody, when there is no owner', [], []],
    ['nobody, when no owner controls it', [{ controller: false }], []],
    ['nobody, when the owner is of another kind', [{ kind: 'StatefulSet' }], []],
    ['nobody, when the owner is of another group', [{ apiVersion: 'example.com/v1' }], []],
    ['nobody, when the owner is of the core group', [{ apiVersion: 'v1' }], []],
  ])('%s', (_, owners, expected) => {
    expect(keysAfter(added(replicaSetOf(...owners)))).toEqual(expected);
    expect(keysAfter(deleted(replicaSetOf(...owners)))).toEqual(expected);
  });

  it('the owners of both states, when it changes hands', () => {
    const event = updated(replicaSetOf({}), replicaSetOf({ name: 'api' }));
    expect(keysAfter(event)).toEqual([web, 'eu-1 Deployment shop/api event']);
  });

  it('an owner without a namespace, when its kind is in none', () => {
    const clusterScoped = ControllerBuilder.for(DEPLOYMENT, { clusterScoped: true });
    expect(keysAfter(added(replicaSetOf({})), clusterScoped)).toEqual(['eu-1 Deployment /web event']);
  });
});

// controller-runtime, pkg/builder/controller_test.go.
describe('a builder refuses', () => {
  it('to attach what watches nothing', () => {
    expect(() => watched(ControllerBuilder.of('Deployment.apps'))).toThrow('watches nothing');
  });

  it('an owned kind of no owner', () => {
    expect(() => ControllerBuilder.of('Deployment.apps').owns(REPLICA_SET)).toThrow('without for()');
  });

  it('one kind in two scopes', () => {
    const builder = ControllerBuilder.for(DEPLOYMENT).watches(SECRET, () => [], { scope: { namespace: 'shop' } });
    expect(() => builder.watches(SECRET, () => [])).toThrow('Secret is watched in two scopes');
  });

  it('nothing of what was declared from another value of it', () => {
    const builder = ControllerBuilder.for(DEPLOYMENT);
    builder.owns(REPLICA_SET);
    expect(watched(builder)).toEqual([['Deployment', {}]]);
  });
});
