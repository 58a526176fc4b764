import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ControllerBuilder } from '../../src/controllers/index.ts';
import type { ObjectMeta, OwnerReference } from '../../src/kernel/index.ts';
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

const owner = (name: string, fields: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name,
  uid: `uid-of-${name}`,
  controller: true,
  ...fields,
});
const ownedBy = (...ownerReferences: OwnerReference[]): ObjectMeta => ({ namespace: 'foo', ownerReferences });

async function startFor(): Promise<void> {
  world.attach(ControllerBuilder.for(DEPLOYMENT));
  await world.start();
}

test('Handler/EnqueueRequestForObject/should enqueue a Request with the Name / Namespace of the object in the CreateEvent: once', async () => {
  await startFor();
  world.server(DEPLOYMENT).put('foo', { namespace: 'biz' });
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps biz/foo']);
  expect(world.keys[0]).toEqual({ cluster: 'eu-1', kind: 'Deployment.apps', namespace: 'biz', name: 'foo' });
});

test('Handler/EnqueueRequestForObject/should enqueue a Request with the Name / Namespace of the object in the DeleteEvent: once', async () => {
  world.server(DEPLOYMENT).put('foo', { namespace: 'biz' });
  await startFor();
  world.take();
  world.server(DEPLOYMENT).remove('biz/foo');
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps biz/foo']);
});

test('Handler/EnqueueRequestForObject/should enqueue a Request with the Name / Namespace of one object in the UpdateEvent: once, though it has two states', async () => {
  world.server(DEPLOYMENT).put('foo', { namespace: 'biz' });
  await startFor();
  world.take();
  world.server(DEPLOYMENT).put('foo', { namespace: 'biz', labels: { a: 'b' } });
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps biz/foo']);
});

/** The users of a Secret stand in its annotation. */
async function startMapped(): Promise<void> {
  const builder = ControllerBuilder.of('Deployment.apps').watches(SECRET, ({ metadata }) =>
    (metadata.annotations?.['users'] ?? '')
      .split(',')
      .map((name) => ({ cluster: 'hub', kind: 'Deployment.apps', namespace: 'foo', name })),
  );
  world.attach(builder);
  await world.start();
}

const used = (users: string): ObjectMeta => ({ namespace: 'foo', annotations: { users } });

test('Handler/EnqueueRequestsFromMapFunc/should enqueue a Request with the function applied to the CreateEvent: all of its keys', async () => {
  await startMapped();
  world.server(SECRET).put('s', used('a,b'));
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps foo/a', 'event Deployment.apps foo/b']);
});

test('Handler/EnqueueRequestsFromMapFunc/should enqueue a Request with the function applied to the DeleteEvent: all of its keys', async () => {
  world.server(SECRET).put('s', used('a,b'));
  await startMapped();
  world.take();
  world.server(SECRET).remove('foo/s');
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps foo/a', 'event Deployment.apps foo/b']);
});

test('Handler/EnqueueRequestsFromMapFunc/should enqueue a Request with the function applied to both objects in the UpdateEvent: what both lead to once', async () => {
  world.server(SECRET).put('s', used('a,b'));
  await startMapped();
  world.take();
  world.server(SECRET).put('s', used('b,c'));
  await world.pass();
  expect(world.take()).toEqual([
    'event Deployment.apps foo/a',
    'event Deployment.apps foo/b',
    'event Deployment.apps foo/c',
  ]);
});

async function startOwning(clusterScoped = false): Promise<void> {
  world.attach(ControllerBuilder.for(DEPLOYMENT, { clusterScoped }).owns(REPLICA_SET));
  await world.start();
}

async function putOwned(...owners: OwnerReference[]): Promise<string[]> {
  world.take();
  world.server(REPLICA_SET).put('rs', ownedBy(...owners));
  await world.pass();
  return world.take();
}

test('Handler/EnqueueRequestForOwner/should enqueue a Request with the Owner of the object in the CreateEvent: in the namespace of the object', async () => {
  await startOwning();
  expect(await putOwned(owner('foo-parent'))).toEqual(['event Deployment.apps foo/foo-parent']);
});

test('Handler/EnqueueRequestForOwner/should enqueue a Request with the Owner of the object in the DeleteEvent: the last that is known', async () => {
  await startOwning();
  await putOwned(owner('foo-parent'));
  world.server(REPLICA_SET).remove('foo/rs');
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps foo/foo-parent']);
});

test('Handler/EnqueueRequestForOwner/should enqueue a Request with the Owners of both objects in the UpdateEvent: the former one, too', async () => {
  await startOwning();
  await putOwned(owner('foo1-parent'));
  expect(await putOwned(owner('foo2-parent'))).toEqual([
    'event Deployment.apps foo/foo1-parent',
    'event Deployment.apps foo/foo2-parent',
  ]);
});

test('Handler/EnqueueRequestForOwner/should enqueue a Request with the one duplicate Owner of both objects in the UpdateEvent: once', async () => {
  await startOwning();
  await putOwned(owner('foo-parent'));
  expect(await putOwned(owner('foo-parent'))).toEqual(['event Deployment.apps foo/foo-parent']);
});

test('Handler/EnqueueRequestForOwner/should not enqueue a Request if there are no owners matching Group and Kind: neither alone is enough', async () => {
  await startOwning();
  expect(await putOwned(owner('other', { kind: 'StatefulSet' }))).toEqual([]);
  expect(await putOwned(owner('other', { apiVersion: 'example.com/v1' }))).toEqual([]);
});

test('Handler/EnqueueRequestForOwner/should enqueue a Request if there are owners matching Group and Kind with a different version: as it was read', async () => {
  await startOwning();
  expect(await putOwned(owner('foo-parent', { apiVersion: 'apps/v1beta1' }))).toEqual([
    'event Deployment.apps foo/foo-parent',
  ]);
});

test('Handler/EnqueueRequestForOwner/should enqueue a Request for a owner that is cluster scoped: without the namespace of the object', async () => {
  await startOwning(true);
  expect(await putOwned(owner('node-1'))).toEqual(['event Deployment.apps /node-1']);
});

test('Handler/EnqueueRequestForOwner/should not enqueue a Request if there are no owners: at all', async () => {
  await startOwning();
  expect(await putOwned()).toEqual([]);
});

test('Handler/EnqueueRequestForOwner/with the Controller field set to true/should enqueue reconcile.Requests for only the first the Controller if there are multiple Controller owners: others are bystanders', async () => {
  await startOwning();
  const owners = [
    owner('bystander', { controller: false }),
    owner('controller'),
    owner('other', { controller: false }),
  ];
  expect(await putOwned(...owners)).toEqual(['event Deployment.apps foo/controller']);
});

test('Handler/EnqueueRequestForOwner/with the Controller field set to true/should not enqueue reconcile.Requests if there are no Controller owners: only bystanders', async () => {
  await startOwning();
  expect(await putOwned(owner('bystander', { controller: false }))).toEqual([]);
});

test('Handler/EnqueueRequestForOwner/with the Controller field set to true/should not enqueue reconcile.Requests if there are no owners: an empty list', async () => {
  await startOwning();
  expect(await putOwned()).toEqual([]);
});

test('Handler/EnqueueRequestForOwner/with an invalid APIVersion in the OwnerReference/should do nothing: and throws nothing', async () => {
  await startOwning();
  expect(await putOwned(owner('foo-parent', { apiVersion: 'app/bar/baz' }))).toEqual([]);
  expect(world.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

test('Handler/WithLowPriorityWhenUnchanged/should lower the priority of a create request for an object that was part of the initial list: to that of a resync', async () => {
  world.server(DEPLOYMENT).put('foo', { namespace: 'biz' });
  await startFor();
  expect(world.take()).toEqual(['resync Deployment.apps biz/foo']);
});

test('Handler/WithLowPriorityWhenUnchanged/should not lower the priority of a create request for an object that was not part of the initial list: it is an event', async () => {
  await startFor();
  world.server(DEPLOYMENT).put('foo', { namespace: 'biz' });
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps biz/foo']);
});

test('Handler/WithLowPriorityWhenUnchanged/should lower the priority of an update request with unchanged RV: a resync', async () => {
  world.server(DEPLOYMENT).put('foo', { namespace: 'biz' });
  await startFor();
  world.take();
  await world.pass(60_000);
  expect(world.take()).toEqual(['resync Deployment.apps biz/foo']);
});

test('Handler/WithLowPriorityWhenUnchanged/should not lower the priority of an update request with changed RV: it is an event', async () => {
  world.server(DEPLOYMENT).put('foo', { namespace: 'biz' });
  await startFor();
  world.take();
  world.server(DEPLOYMENT).put('foo', { namespace: 'biz' });
  await world.pass();
  expect(world.take()).toEqual(['event Deployment.apps biz/foo']);
});
