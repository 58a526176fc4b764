import { afterEach, beforeEach, expect, test } from 'vitest';
import { addFinalizer, MutationCache, removeFinalizer, withControllerReference } from '../../src/controllers/index.ts';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { noMetrics, silentLogger, systemClock, WaitingError } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import type { KubernetesClient } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, eventually, uniqueName } from '../support/lab.ts';
import { CONFIG_MAP } from './following.ts';

const FINALIZER = 'conformance.atoll-test.example/hold';

let client: KubernetesClient;
let namespace: string;
let factory: SharedInformerFactory;

beforeEach(async () => {
  client = adminClient('eu-1');
  namespace = await createNamespace('eu-1');
  factory = new SharedInformerFactory({
    client,
    clock: systemClock,
    random: () => 0.5,
    logger: silentLogger,
    metrics: noMetrics,
  });
});

afterEach(() => factory.stop());

const configMap = (name: string, data: Record<string, string> = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});

test('Controllerutil/Finalizers/AddFinalizer/should add the finalizer when not present: a real server holds the object by it until it is removed', async () => {
  const created = await client.create(configMap('held'), asTester);
  const held = await addFinalizer(client, created, FINALIZER, asTester);
  const ref = { gvk: CONFIG_MAP, namespace, name: 'held' };
  await client.delete(ref, { uid: held.metadata.uid ?? '' }, asTester);
  const deleting = await client.get(ref);
  expect(deleting?.metadata.deletionTimestamp).toBeDefined();
  await removeFinalizer(client, deleting as KubernetesObject, FINALIZER, asTester);
  await expect(client.get(ref)).resolves.toBeUndefined();
});

test('Controllerutil/Finalizers/RemoveFinalizer/should remove finalizer if present: of an object that changed since it was read, nothing is changed', async () => {
  const created = await client.create(configMap('moved'), asTester);
  const held = await addFinalizer(client, created, FINALIZER, asTester);
  await client.apply(configMap('moved', { colour: 'red' }), asTester);
  await expect(removeFinalizer(client, held, FINALIZER, asTester)).rejects.toThrow(WaitingError);
  const live = await client.get({ gvk: CONFIG_MAP, namespace, name: 'moved' });
  expect(live?.metadata.finalizers).toEqual([FINALIZER]);
  await removeFinalizer(client, live as KubernetesObject, FINALIZER, asTester);
});

test('Controllerutil/SetControllerReference/should set the OwnerReference if it can find the group version kind: a real server takes it', async () => {
  const owner = await client.create(configMap('owner'), asTester);
  const owned = await client.apply(withControllerReference(configMap('owned'), owner), asTester);
  expect(owned.metadata.ownerReferences).toMatchObject([{ uid: owner.metadata.uid, controller: true }]);
});

test('Beyond/a write can be waited for in the cache by its resourceVersion: what a real server answered is read at once, and then seen', async () => {
  const informer = factory.informer(CONFIG_MAP, { namespace });
  const cache = new MutationCache({ informer, clock: systemClock });
  factory.start();
  await eventually(() => informer.hasSynced());
  for (let round = 0; round < 20; round += 1) {
    const written = await client.apply(configMap('counter', { round: String(round) }), asTester);
    cache.remember(written);
    expect(cache.get(`${namespace}/counter`)).toMatchObject({ data: { round: String(round) } });
    await expect(cache.waitFor(written, 10_000)).resolves.toBe(true);
    expect(informer.lister.get(`${namespace}/counter`)).toMatchObject({ data: { round: String(round) } });
  }
  cache.close();
});

test('Beyond/a ClusterRole may have an upper-case name: it is no DNS name, and found all the same', async () => {
  const gvk = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole' };
  const name = `Conformance:${uniqueName('UPPER')}`;
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules: [] };
  const created = await client.apply(role, asTester);
  await expect(client.get({ gvk, name })).resolves.toMatchObject({ metadata: { name } });
  await client.delete({ gvk, name }, { uid: created.metadata.uid ?? '' }, asTester);
  await expect(client.get({ gvk, name })).resolves.toBeUndefined();
});

test('Beyond/x-kubernetes extensions of a CRD survive a round trip: by apply, read and update', async () => {
  const plural = uniqueName('extended');
  const kind = `Kind${plural.replaceAll('-', '')}`;
  const properties = {
    port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    list: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  };
  const spec = {
    group: 'atoll-test.example',
    scope: 'Namespaced',
    names: { plural, kind, listKind: `${kind}List`, singular: plural },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } },
    ],
  };
  const gvk = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' };
  const name = `${plural}.atoll-test.example`;
  const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: gvk.kind, metadata: { name }, spec };
  await client.apply(definition, asTester);
  // The server writes conditions of its own meanwhile: an update is tied to what was read.
  const updated = await eventually(async () => {
    const live = await client.get({ gvk, name });
    return live && client.update({ ...live, metadata: { ...live.metadata, labels: { seen: 'yes' } } }, asTester);
  });
  expect(updated).toMatchObject({ spec: { versions: [{ schema: { openAPIV3Schema: { properties } } }] } });
  await client.delete({ gvk, name }, { uid: updated.metadata.uid ?? '' }, asTester);
});
