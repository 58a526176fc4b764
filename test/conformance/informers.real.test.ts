import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import type { EventHandler, SharedInformer } from '../../src/informers/index.ts';
import { noMetrics, objectKey, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../../src/kernel/index.ts';
import { KubernetesClient } from '../../src/kubernetes/index.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { adminClient, asTester, createNamespace, eventually } from '../support/lab.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';
import { CONFIG_MAP } from './following.ts';

const CLUSTER_ROLE = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole' };

let account: BoundServiceAccount;
let proxy: FaultProxy;
let client: KubernetesClient;
let factory: SharedInformerFactory;

beforeAll(async () => {
  account = await serviceAccountWith('eu-1', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]);
});

afterAll(() => account.remove());

beforeEach(async () => {
  proxy = await FaultProxy.start(account.connection);
  const common = { clock: systemClock, random: () => 0, logger: silentLogger, metrics: noMetrics };
  client = new KubernetesClient({ ...common, cluster: 'eu-1', connection: proxy.connection });
  factory = new SharedInformerFactory({ ...common, client });
});

afterEach(async () => {
  await factory.stop();
  await client.close();
  await proxy.stop();
});

const byKey = (objects: readonly KubernetesObject[]): Map<string, KubernetesObject> =>
  new Map(objects.map((object) => [objectKey(object), object]));

async function synced(gvk: GroupVersionKind, scope = {}): Promise<SharedInformer> {
  const informer = factory.informer(gvk, scope);
  factory.start();
  await eventually(() => informer.hasSynced());
  return informer;
}

test('TestReflectorListExtract: items of a list say what they are, as objects by themselves do', async () => {
  const { items } = await client.list(CLUSTER_ROLE, { limit: 3 });
  expect(items).toHaveLength(3);
  for (const item of items) {
    const single = await client.get({ gvk: CLUSTER_ROLE, name: item.metadata.name ?? '' });
    expect(item).toEqual(single);
  }
});

/** All pages of a list, from the storage. */
async function readPages(gvk: GroupVersionKind): Promise<KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  for (let next: string | undefined = ''; next !== undefined;) {
    const page = await client.list(gvk, { limit: 10, ...(next !== '' && { continue: next }) });
    objects.push(...page.items);
    next = page.continue;
  }
  return objects;
}

test('TestReflectorDataConsistencyDetector: a streamed list, a list from the cache and pages from the storage bring the same objects', async () => {
  const streamed = await synced(CLUSTER_ROLE);
  proxy.fault = ({ url }) =>
    url.includes('sendInitialEvents') ? { status: 400, body: 'unknown parameter' } : undefined;
  const common = { clock: systemClock, random: () => 0, logger: silentLogger, metrics: noMetrics };
  const listing = new SharedInformerFactory({ ...common, client });
  const listed = listing.informer(CLUSTER_ROLE);
  listing.start();
  await eventually(() => listed.hasSynced());
  expect(listed.lister.list().length).toBeGreaterThan(40);
  await eventually(async () => {
    const paged = byKey(await readPages(CLUSTER_ROLE));
    expect(byKey(listed.lister.list())).toEqual(paged);
    expect(byKey(streamed.lister.list())).toEqual(paged);
    return true;
  });
  await listing.stop();
});

/** What a handler would hold if it believed what it is told. */
function mirror(): { readonly held: Map<string, string>; readonly handler: EventHandler } {
  const held = new Map<string, string>();
  const note = (object: KubernetesObject): void =>
    void held.set(objectKey(object), object.metadata.resourceVersion ?? '');
  return {
    held,
    handler: {
      onAdd: note,
      onUpdate: (_previous, current) => note(current),
      onDelete: (last) => held.delete(objectKey(last)),
    },
  };
}

test('TestHammerController: while connections break, the store and what a handler was told come to equal the server', async () => {
  const admin = adminClient('eu-1');
  const namespace = await createNamespace('eu-1');
  const informer = await synced(CONFIG_MAP, { namespace });
  const { held, handler } = mirror();
  informer.addHandler(handler);
  for (let round = 0; round < 60; round += 1) {
    const name = `object-${round % 7}`;
    const live = await admin.get({ gvk: CONFIG_MAP, namespace, name });
    if (live && round % 3 === 0) {
      await admin.delete({ gvk: CONFIG_MAP, namespace, name }, { uid: live.metadata.uid ?? '' }, asTester);
    } else {
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace },
        data: { round: String(round) },
      };
      await admin.apply(object, asTester);
    }
    if (round % 10 === 5) proxy.cut();
  }
  const { items } = await admin.list(CONFIG_MAP, { namespace });
  await eventually(() => {
    expect(byKey(informer.lister.list())).toEqual(byKey(items));
    return true;
  });
  expect(held).toEqual(new Map(items.map((object) => [objectKey(object), object.metadata.resourceVersion])));
});

test('TestWatchList/prove that the reflector is synced after receiving a bookmark event: a real server sends it, and the stream goes on', async () => {
  const namespace = await createNamespace('eu-1');
  const informer = await synced(CONFIG_MAP, { namespace });
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'later', namespace } };
  await adminClient('eu-1').create(object, asTester);
  await eventually(() => informer.lister.get(`${namespace}/later`) !== undefined);
  const watches = proxy.seen.filter(({ url }) => url.includes('watch=true'));
  expect(watches).toHaveLength(1);
  expect(watches[0]?.url).toContain('sendInitialEvents=true');
  expect(watches[0]?.url).toContain('resourceVersionMatch=NotOlderThan');
});

test('TestReflectorFullListIfTooLarge: a real server names a version that it does not know, and is asked for the newest', async () => {
  const options = { resourceVersion: '999999999999999', resourceVersionMatch: 'NotOlderThan' } as const;
  const refused = client.list(CONFIG_MAP, options);
  await expect(refused).rejects.toMatchObject({ name: 'ResourceVersionTooLargeError', status: 504 });
});
