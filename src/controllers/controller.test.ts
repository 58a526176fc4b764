import { beforeEach, describe, expect, it } from 'vitest';
import { PlayedInformers } from '../../test/support/played-informers.ts';
import { WaitingError, done, noMetrics, requeueAfter, silentLogger, systemClock } from '../kernel/index.ts';
import type { Key, KubernetesObject, Metrics, ObjectMeta, OwnerReference } from '../kernel/index.ts';
import { ControllerBuilder } from './controller-builder.ts';
import type { Caches, Controller, ControllerOptions } from './controller.ts';
import { OWNER_INDEX } from './controller.ts';
import { deletions, generationChanged } from './predicates.ts';

const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' };
const REPLICA_SET = { group: 'apps', version: 'v1', kind: 'ReplicaSet' };
const SECRET = { group: '', version: 'v1', kind: 'Secret' };
const web: Key = { cluster: 'eu-1', kind: 'Deployment.apps', namespace: 'shop', name: 'web' };

let informers: PlayedInformers;
/** "name priority" of each key that was added, with its namespace where it is another than "shop". */
let queued: string[];
/** Names of the keys that were reconciled. */
let reconciled: string[];
let caches: Caches;
let errors: unknown[];
let failures: number;

const context = { guard: () => undefined, signal: new AbortController().signal };

beforeEach(() => {
  informers = new PlayedInformers();
  queued = [];
  reconciled = [];
  errors = [];
  failures = 0;
});

const metrics: Metrics = {
  ...noMetrics,
  counter: ({ name }) => ({ inc: () => void (failures += Number(name === 'controller_event_failures_total')) }),
};

function attach(builder: ControllerBuilder, options: Partial<ControllerOptions> = {}): Controller {
  return builder.attach({
    cluster: 'eu-1',
    informers,
    queue: {
      add: ({ namespace, name }, { priority = 'event' } = {}) =>
        void queued.push(`${namespace === 'shop' ? '' : `${namespace}/`}${name} ${priority}`),
    },
    reconciler: (given) => {
      caches = given;
      return ({ name }) => {
        reconciled.push(name);
        return Promise.resolve(requeueAfter(1));
      };
    },
    clock: systemClock,
    logger: { ...silentLogger, error: (_, fields) => void errors.push(fields?.['error']) },
    metrics,
    ...options,
  });
}

/** Synced, with nothing in any informer. */
function attached(builder: ControllerBuilder, options: Partial<ControllerOptions> = {}): Controller {
  informers = new PlayedInformers(true);
  return attach(builder, options);
}

function object(kind: string, metadata: ObjectMeta): KubernetesObject {
  return { apiVersion: kind === 'Secret' ? 'v1' : 'apps/v1', kind, metadata: { namespace: 'shop', ...metadata } };
}

function deployment(name: string, metadata: ObjectMeta = {}): KubernetesObject {
  return object('Deployment', { name, uid: name, resourceVersion: '1', ...metadata });
}

function replicaSetOf(...owners: readonly Partial<OwnerReference>[]): KubernetesObject {
  const ownerReferences = owners.map((owner) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: 'web',
    uid: 'u',
    controller: true,
    ...owner,
  }));
  return object('ReplicaSet', { name: 'web-1', uid: 'r', resourceVersion: '1', ownerReferences });
}

/** What becomes of the held keys is told when the promises that wait for the informers have settled. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

// controller-runtime, pkg/internal/controller/controller_test.go: "should not reconcile before every handler has seen the initial objects".
describe('the gate', () => {
  const builder = ControllerBuilder.for(DEPLOYMENT).owns(REPLICA_SET);

  it('holds back what the initial lists lead to until every source has synced', async () => {
    const controller = attach(builder);
    const [deployments, replicaSets] = informers.all();
    deployments?.set(deployment('web'));
    deployments?.sync();
    await settled();
    expect(controller.hasSynced()).toBe(false);
    expect(queued).toEqual([]);
    replicaSets?.set(replicaSetOf({}));
    replicaSets?.set(replicaSetOf({ name: 'api' }));
    replicaSets?.sync();
    await settled();
    expect(controller.hasSynced()).toBe(true);
    // What two sources lead to is held once.
    expect(queued).toEqual(['web resync', 'api resync']);
  });

  it('sends a key that comes from the queue too early back to it, without a failure and without a delay', async () => {
    const controller = attach(builder);
    await expect(controller.reconcile(web, context)).resolves.toBe(done);
    await expect(controller.reconcile(web, context)).resolves.toBe(done);
    expect([reconciled, queued]).toEqual([[], []]);
    for (const informer of informers.all()) informer.sync();
    await settled();
    expect(queued).toEqual(['web event']);
    await expect(controller.reconcile(web, context)).resolves.toEqual(requeueAfter(1));
    expect(reconciled).toEqual(['web']);
  });

  it('keeps the higher priority of a key that it holds', async () => {
    const controller = attach(ControllerBuilder.for(DEPLOYMENT));
    const [deployments] = informers.all();
    deployments?.set(deployment('web'));
    await controller.reconcile(web, context);
    deployments?.set(deployment('web'));
    deployments?.sync();
    await settled();
    expect(queued).toEqual(['web event']);
  });

  it('is open at once over informers that have synced before', () => {
    informers.informer(DEPLOYMENT).set(deployment('web'));
    informers.informer(DEPLOYMENT).sync();
    const controller = attach(ControllerBuilder.for(DEPLOYMENT));
    expect(controller.hasSynced()).toBe(true);
    expect(queued).toEqual(['web resync']);
  });

  it('does not open for a controller that was detached meanwhile', async () => {
    const controller = attach(builder);
    await controller.reconcile(web, context);
    controller.detach();
    for (const informer of informers.all()) informer.sync();
    await settled();
    expect(queued).toEqual([]);
    await expect(controller.reconcile(web, context)).rejects.toThrow(WaitingError);
  });

  it('does not open for a controller that is detached in the very moment in which its sources have synced', async () => {
    const controller = attach(builder);
    for (const informer of informers.all()) informer.sync();
    controller.detach();
    await settled();
    await expect(controller.reconcile(web, context)).rejects.toThrow(WaitingError);
  });
});

describe('detaching', () => {
  it('takes every handler away and lets go of every informer', () => {
    const controller = attach(ControllerBuilder.for(DEPLOYMENT).owns(REPLICA_SET));
    caches(DEPLOYMENT);
    caches(REPLICA_SET);
    // The controller's own handler, and its cache's.
    expect(informers.all().map(({ handlers, references }) => [handlers, references])).toEqual([
      [2, 1],
      [2, 1],
    ]);
    controller.detach();
    expect(informers.all().map(({ handlers, references }) => [handlers, references])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });
});

// controller-runtime, pkg/handler/eventhandler_test.go: EnqueueRequestForObject, WithLowPriorityWhenUnchanged.
describe('an object that the controller is for', () => {
  it.each<[string, (of: ReturnType<PlayedInformers['informer']>) => void, string[]]>([
    [
      'of the initial list comes after what happens',
      (of) => of.play((h) => h.onAdd?.(deployment('web'), true)),
      ['web resync'],
    ],
    ['that is created is an event', (of) => of.play((h) => h.onAdd?.(deployment('web'), false)), ['web event']],
    [
      'that changes is an event, once',
      (of) => of.play((h) => h.onUpdate?.(deployment('web'), deployment('web', { resourceVersion: '2' }))),
      ['web event'],
    ],
    [
      'of an unchanged version comes after what happens',
      (of) => of.play((h) => h.onUpdate?.(deployment('web'), deployment('web'))),
      ['web resync'],
    ],
    ['that is gone is an event', (of) => of.play((h) => h.onDelete?.(deployment('web'), false)), ['web event']],
    ['that went unseen is an event', (of) => of.play((h) => h.onDelete?.(deployment('web'), true)), ['web event']],
  ])('%s', (_, happens, expected) => {
    attached(ControllerBuilder.for(DEPLOYMENT));
    happens(informers.informer(DEPLOYMENT));
    expect(queued).toEqual(expected);
  });

  it('is one of the keys that there are', () => {
    const controller = attached(ControllerBuilder.for(DEPLOYMENT).owns(REPLICA_SET));
    informers.informer(DEPLOYMENT).set(deployment('web'));
    informers.informer(REPLICA_SET).set(replicaSetOf({ name: 'api' }));
    expect(controller.keys()).toEqual([web]);
  });
});

// controller-runtime, pkg/handler/eventhandler_test.go: EnqueueRequestsFromMapFunc.
describe('a watched object leads to', () => {
  const named = (name: string): Key => ({ ...web, name });

  it('the keys that the function says, of an update those of both states, each once', () => {
    const users = ({ metadata }: KubernetesObject): Key[] => (metadata.labels?.['users'] ?? '').split('.').map(named);
    attached(ControllerBuilder.for(DEPLOYMENT).watches(SECRET, users));
    const secrets = informers.informer(SECRET);
    secrets.set(object('Secret', { name: 'key', resourceVersion: '1', labels: { users: 'a.b.a' } }));
    expect(queued).toEqual(['a event', 'b event']);
    secrets.set(object('Secret', { name: 'key', resourceVersion: '2', labels: { users: 'b.c' } }));
    expect(queued.slice(2)).toEqual(['a event', 'b event', 'c event']);
  });

  it('keys of any cluster', () => {
    const keys: Key[] = [];
    attached(
      ControllerBuilder.of('Deployment.apps').watches(SECRET, () => [{ ...web, cluster: 'us-1' }]),
      {
        queue: { add: (key) => void keys.push(key) },
      },
    );
    informers.informer(SECRET).set(object('Secret', { name: 'key' }));
    expect(keys).toEqual([{ ...web, cluster: 'us-1' }]);
  });
});

describe('predicates of a source', () => {
  it('must all let an event pass', () => {
    attached(ControllerBuilder.for(DEPLOYMENT, { predicates: [generationChanged, deletions] }));
    const deployments = informers.informer(DEPLOYMENT);
    deployments.set(deployment('web', { generation: 1 }));
    deployments.set(deployment('web', { generation: 2, resourceVersion: '2' }));
    expect(queued).toEqual([]);
    deployments.delete(deployment('web', { generation: 2, resourceVersion: '3' }));
    expect(queued).toEqual(['web event']);
  });

  it('are those of this source only', () => {
    attached(ControllerBuilder.for(DEPLOYMENT).owns(REPLICA_SET, { predicates: [deletions] }));
    informers.informer(DEPLOYMENT).set(deployment('api'));
    informers.informer(REPLICA_SET).set(replicaSetOf({}));
    expect(queued).toEqual(['api event']);
  });
});

describe('what throws', () => {
  const fails = (): never => {
    throw new TypeError('undefined is no function');
  };

  it('as a predicate lets the event pass, and is counted', () => {
    attached(ControllerBuilder.for(DEPLOYMENT, { predicates: [fails] }));
    informers.informer(DEPLOYMENT).set(deployment('web'));
    expect(queued).toEqual(['web event']);
    expect([failures, errors]).toEqual([1, [expect.any(TypeError)]]);
  });

  it('as a map function leads nowhere, is counted, and keeps no other event and no other state from being told', () => {
    let isFirst = true;
    const map = (): Key[] => {
      if (!isFirst) return [web];
      isFirst = false;
      return fails();
    };
    attached(ControllerBuilder.of('Deployment.apps').watches(SECRET, map));
    const secret = (resourceVersion: string): KubernetesObject => object('Secret', { name: 'key', resourceVersion });
    informers.informer(SECRET).play((handler) => handler.onUpdate?.(secret('1'), secret('2')));
    expect(queued).toEqual(['web event']);
    expect(failures).toBe(1);
  });

  it('as a reconciler is the queue’s to judge', async () => {
    const controller = attached(ControllerBuilder.for(DEPLOYMENT), {
      reconciler: () => fails,
    });
    await expect(controller.reconcile(web, context)).rejects.toThrow(TypeError);
  });
});

describe('a controller without a reconciler', () => {
  it('fills the queue, and does not reconcile', async () => {
    const controller = attached(ControllerBuilder.for(DEPLOYMENT), { reconciler: undefined });
    informers.informer(DEPLOYMENT).set(deployment('web'));
    expect(queued).toEqual(['web event']);
    await expect(controller.reconcile(web, context)).rejects.toThrow('only watches');
  });
});

describe('the caches', () => {
  it('have the index also of a kind that is watched for another reason first', () => {
    attached(
      ControllerBuilder.for(DEPLOYMENT)
        .watches(REPLICA_SET, () => [])
        .owns(REPLICA_SET),
    );
    expect(caches(REPLICA_SET).byIndex(OWNER_INDEX, 'u')).toEqual([]);
  });

  it('are those of the declared kinds, with an index by owner for what is owned', () => {
    attached(ControllerBuilder.for(DEPLOYMENT).owns(REPLICA_SET));
    informers.informer(REPLICA_SET).set(replicaSetOf({}));
    expect(caches(REPLICA_SET).byIndex(OWNER_INDEX, 'u')).toHaveLength(1);
    expect(caches(REPLICA_SET)).toBe(caches(REPLICA_SET));
    expect(() => caches(SECRET)).toThrow(/Secret.v1., which it does not watch/);
  });
});
