import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ControllerBuilder, labelsChanged, OWNER_INDEX } from '../../src/controllers/index.ts';
import type { Caches } from '../../src/controllers/index.ts';
import { done, WaitingError } from '../../src/kernel/index.ts';
import type { Key } from '../../src/kernel/index.ts';
import { UnreachableError } from '../../src/kubernetes/index.ts';
import { Controlled, DEPLOYMENT, REPLICA_SET, SECRET } from './controlled.ts';

let world: Controlled;

beforeEach(() => {
  vi.useFakeTimers();
  world = new Controlled();
});

afterEach(async () => {
  await world.informers.stop();
  vi.useRealTimers();
});

const key = (name: string): Key => ({ cluster: 'eu-1', kind: 'Deployment.apps', namespace: 'ns', name });
const context = { signal: new AbortController().signal, guard: (): void => undefined };
const owned = (
  ...names: string[]
): {
  namespace: string;
  ownerReferences: { apiVersion: string; kind: string; name: string; uid: string; controller: boolean }[];
} => ({
  namespace: 'ns',
  ownerReferences: names.map((name) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name,
    uid: `uid-of-${name}`,
    controller: true,
  })),
});

/** A reconciler that notes the names of its keys. */
function counting(): { readonly ran: string[]; readonly reconciler: () => (key: Key) => Promise<typeof done> } {
  const ran: string[] = [];
  return {
    ran,
    reconciler:
      () =>
      async ({ name }) => {
        ran.push(name);
        return Promise.resolve(done);
      },
  };
}

test('Controller/Start/should not call Reconcile until all event handlers have processed initial objects: keys wait, and come to the queue then', async () => {
  for (const name of ['a', 'b']) world.server(DEPLOYMENT).put(name, { namespace: 'ns' });
  const { ran, reconciler } = counting();
  world.server(SECRET).failures.push(new UnreachableError('not yet', 'ECONNREFUSED'));
  const controller = world.attach(
    ControllerBuilder.for(DEPLOYMENT).watches(SECRET, () => []),
    { reconciler },
  );
  await world.start();
  expect(controller.hasSynced()).toBe(false);
  expect(world.take()).toEqual([]);
  await expect(controller.reconcile(key('early'), context)).resolves.toEqual(done);
  expect(ran).toEqual([]);
  await world.pass(2000);
  expect(controller.hasSynced()).toBe(true);
  expect(world.take().toSorted()).toEqual([
    'event Deployment.apps ns/early',
    'resync Deployment.apps ns/a',
    'resync Deployment.apps ns/b',
  ]);
  await controller.reconcile(key('a'), context);
  expect(ran).toEqual(['a']);
});

test('Controller/Start/should return an error if there is an error waiting for the informers: the informer says why, and the controller stays closed', async () => {
  const failure = new UnreachableError('refused', 'ECONNREFUSED');
  world.server(DEPLOYMENT).failures.push(failure, failure, failure);
  const { ran, reconciler } = counting();
  const controller = world.attach(ControllerBuilder.for(DEPLOYMENT), { reconciler });
  await world.start();
  await controller.reconcile(key('a'), context);
  expect(controller.hasSynced()).toBe(false);
  expect(ran).toEqual([]);
  expect(world.informers.informer(DEPLOYMENT).lastError()).toBe(failure);
});

test('Controller/Start/should not error when controller Start context is cancelled during Sources WaitForSync: detaching before the sync drops what is held', async () => {
  world.server(DEPLOYMENT).put('a', { namespace: 'ns' });
  world.server(SECRET).failures.push(new UnreachableError('not yet', 'ECONNREFUSED'));
  const controller = world.attach(ControllerBuilder.for(DEPLOYMENT).watches(SECRET, () => []));
  await world.start();
  controller.detach();
  await world.pass(5000);
  expect(world.take()).toEqual([]);
  await expect(controller.reconcile(key('a'), context)).rejects.toThrow(WaitingError);
});

test('Controller/Start/should call Start on sources with the appropriate EventHandler, Queue, and Predicates: an informer that runs already tells what there is', async () => {
  world.server(DEPLOYMENT).put('a', { namespace: 'ns' });
  world.informers.informer(DEPLOYMENT);
  await world.start();
  const controller = world.attach(ControllerBuilder.for(DEPLOYMENT));
  await world.pass();
  expect(controller.hasSynced()).toBe(true);
  expect(world.take()).toEqual(['resync Deployment.apps ns/a']);
});

test('Builder/New/should return success if given valid objects: its kind is that of the keys', () => {
  expect(world.attach(ControllerBuilder.for(DEPLOYMENT).owns(REPLICA_SET)).kind).toBe('Deployment.apps');
});

test('Builder/New/should return an error when using Owns without For: nothing could be the owner', () => {
  expect(() => ControllerBuilder.of('Deployment.apps').owns(REPLICA_SET)).toThrow('owns(ReplicaSet) without for()');
});

test('Builder/New/should return an error when there are no watches: it would never run', () => {
  expect(() => world.attach(ControllerBuilder.of('Deployment.apps'))).toThrow('watches nothing');
});

test('Builder/New/should allow creating a controller without calling For: it has no keys of its own', async () => {
  const controller = world.attach(ControllerBuilder.of('Deployment.apps').watches(SECRET, () => []));
  await world.start();
  expect(controller.keys()).toEqual([]);
});

test('Builder/New/should override logger during creation of controller: what a map function throws is logged there, and concerns only its event', async () => {
  const builder = ControllerBuilder.of('Deployment.apps').watches(SECRET, ({ metadata }) => {
    if (metadata.name === 'broken') throw new Error('unforeseen');
    return [key(metadata.name ?? '')];
  });
  world.attach(builder);
  await world.start();
  world.server(SECRET).put('broken');
  world.server(SECRET).put('fine');
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps ns/fine']);
  expect(world.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
});

test('Builder/New/should allow multiple controllers for the same kind: they share one watch', async () => {
  world.attach(ControllerBuilder.for(DEPLOYMENT));
  world.attach(ControllerBuilder.for(DEPLOYMENT));
  await world.start();
  world.server(DEPLOYMENT).put('a', { namespace: 'ns' });
  await world.pass();
  expect(world.take()).toHaveLength(2);
  expect(world.server(DEPLOYMENT).open).toBe(1);
});

test('Builder/Start with ControllerManagedBy/should Reconcile Owns objects: by the index of their owners’ UIDs', async () => {
  let caches: Caches | undefined;
  world.attach(ControllerBuilder.for(DEPLOYMENT).owns(REPLICA_SET), {
    reconciler: (given) => {
      caches = given;
      return async () => Promise.resolve(done);
    },
  });
  await world.start();
  world.server(REPLICA_SET).put('rs', owned('web'));
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps ns/web']);
  expect(caches?.(REPLICA_SET).byIndex(OWNER_INDEX, 'uid-of-web')).toHaveLength(1);
  expect(() => caches?.(SECRET)).toThrow('does not watch');
});

test('Builder/Start with ControllerManagedBy/should Reconcile Watches objects: by the map function', async () => {
  world.attach(ControllerBuilder.for(DEPLOYMENT).watches(SECRET, ({ metadata }) => [key(metadata.name ?? '')]));
  await world.start();
  world.server(SECRET).put('web');
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps ns/web']);
});

test('Builder/Start with ControllerManagedBy/should Reconcile without For: keys of another cluster', async () => {
  const builder = ControllerBuilder.of('Deployment.apps').watches(SECRET, ({ metadata }) => [
    { ...key(metadata.name ?? ''), cluster: 'hub' },
  ]);
  world.attach(builder);
  await world.start();
  world.server(SECRET).put('web');
  await world.pass();
  expect(world.keys).toEqual([{ ...key('web'), cluster: 'hub' }]);
});

test('Builder/Set custom predicates/should execute registered predicates only for assigned kind: and one that throws lets the event pass', async () => {
  const builder = ControllerBuilder.for(DEPLOYMENT, { predicates: [labelsChanged] }).owns(REPLICA_SET, {
    predicates: [
      () => {
        throw new Error('unforeseen');
      },
    ],
  });
  world.server(DEPLOYMENT).put('web', { namespace: 'ns' });
  world.attach(builder);
  await world.start();
  world.take();
  world.server(DEPLOYMENT).put('web', { namespace: 'ns', annotations: { a: 'b' } });
  world.server(REPLICA_SET).put('rs', owned('child'));
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps ns/child']);
  world.server(DEPLOYMENT).put('web', { namespace: 'ns', labels: { a: 'b' } });
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps ns/web']);
});
