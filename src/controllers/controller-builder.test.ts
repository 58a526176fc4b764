import { describe, expect, it } from 'vitest';
import { PlayedInformers } from '../../test/support/played-informers.ts';
import { done, noMetrics, silentLogger, systemClock } from '../kernel/index.ts';
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
