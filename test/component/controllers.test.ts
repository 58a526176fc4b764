import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ControllerBuilder,
  MutationCache,
  addFinalizer,
  removeFinalizer,
  withControllerReference,
} from '../../src/controllers/index.ts';
import type { Caches, Controller } from '../../src/controllers/index.ts';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { WaitingError, done, keyFor, kindName, noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { Key, KubernetesObject } from '../../src/kernel/index.ts';
import { KubernetesClient, referenceOf } from '../../src/kubernetes/index.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import type { SeenRequest } from '../support/fault-proxy.ts';
import { adminClient, asTester, createNamespace, eventually } from '../support/lab.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';
import { useQueues } from '../support/use-queues.ts';

const CLUSTER = 'eu-1';
/** The shard of the queue that {@link useQueues} gives. */
const SHARD = 'm1';
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const SECRET = { group: '', version: 'v1', kind: 'Secret' };
const ports = { clock: systemClock, random: () => 0, logger: silentLogger, metrics: noMetrics };

const queues = useQueues();
let account: BoundServiceAccount;
let admin: KubernetesClient;
let namespace: string;
let proxy: FaultProxy;
/** What the informers read by; writes go past it. */
let client: KubernetesClient;
let informers: SharedInformerFactory;

beforeAll(async () => {
  account = await serviceAccountWith(CLUSTER, [{ apiGroups: [''], resources: ['*'], verbs: ['list', 'watch'] }]);
  admin = adminClient(CLUSTER);
});

afterAll(() => account.remove());

beforeEach(async () => {
  namespace = await createNamespace(CLUSTER);
  proxy = await FaultProxy.start(account.connection);
  client = new KubernetesClient({ ...ports, cluster: CLUSTER, connection: proxy.connection });
  informers = new SharedInformerFactory({ ...ports, client });
});

afterEach(async () => {
  await informers.stop();
  await client.close();
  await proxy.stop();
});

function scope(): { namespace: string; fieldSelector: string } {
  return { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' };
}

function configMap(name: string, value = '1'): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { value } };
}

function isFor(resource: string): (request: SeenRequest) => boolean {
  return ({ url }) => new URL(url, 'https://any').pathname.endsWith(`/${resource}`);
}

describe('a controller', () => {
  let controller: Controller;
  /** Names of the keys that were reconciled, and whether everything was there to be read. */
  let reconciled: string[];

  /** For ConfigMaps, each led to by the Secret of its name, too. Its queue is on a real Redis. */
  function attach(): void {
    reconciled = [];
    const { queue } = queues.replica();
    const sameName = (secret: KubernetesObject): Key[] => [keyFor(SHARD, kindName(CONFIG_MAP), secret)];
    const reconciler = (caches: Caches) => {
      const secrets = caches(SECRET);
      return ({ name }: Key) => {
        reconciled.push(`${name} ${secrets.get(`${namespace}/a`) === undefined ? 'blind' : 'seeing'}`);
        return Promise.resolve(done);
      };
    };
    controller = ControllerBuilder.for(CONFIG_MAP, { scope: scope() })
      .watches(SECRET, sameName, { scope: { namespace } })
      .attach({ ...ports, cluster: SHARD, informers, queue, reconciler });
    queue.start((key, context) => controller.reconcile(key, context), { concurrency: 2, guard: () => undefined });
    informers.start();
  }

  // controller-runtime, controller_test.go: no Reconcile until every handler has processed the initial objects.
  it('reconciles nothing before every kind has been listed, and then every key, without a failure', async () => {
    await admin.create(configMap('a'), asTester);
    await admin.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace } }, asTester);
    const isForSecrets = isFor('secrets');
    proxy.fault = (request) => (isForSecrets(request) ? { status: 503 } : undefined);
    attach();
    const [key] = await eventually(() => controller.keys().length === 1 && controller.keys());
    const { queue } = queues.replica();
    // As another replica would, or what was left in the queue.
    queue.add(key as Key);
    queue.add({ ...(key as Key), name: 'gone' });
    await eventually(async () => (await queue.depth()) === 0);
    await eventually(() => proxy.seen.filter(isForSecrets).length >= 3);
    expect([controller.hasSynced(), reconciled]).toEqual([false, []]);
    expect(
      await Promise.all(['wq:fail', 'wq:due'].map((part) => queues.inspection().exists(queues.partOfQueue(part)))),
    ).toEqual([0, 0]);

    proxy.fault = () => undefined;
    await eventually(() => reconciled.length === 2);
    expect(controller.hasSynced()).toBe(true);
    expect(reconciled.toSorted()).toEqual(['a seeing', 'gone seeing']);
  });

  it('goes on being led by what it watches, until it is detached', async () => {
    attach();
    await eventually(() => controller.hasSynced());
    await admin.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace } }, asTester);
    await eventually(() => reconciled.length === 1);
    await admin.create(configMap('b'), asTester);
    await eventually(() => reconciled.length === 2);
    expect(reconciled).toEqual(['a seeing', 'b seeing']);
    controller.detach();
    const watching = informers.informer(CONFIG_MAP, scope());
    await admin.create(configMap('c'), asTester);
    await eventually(() => watching.lister.get(`${namespace}/c`));
    expect(reconciled).toHaveLength(2);
    await expect(
      controller.reconcile(keyFor(SHARD, 'ConfigMap.', configMap('c')), {
        signal: AbortSignal.abort(),
        guard: () => undefined,
      }),
    ).rejects.toThrow(WaitingError);
  });
});

describe('a reader of its own writes', () => {
  let cache: MutationCache;

  beforeEach(async () => {
    cache = new MutationCache({ informer: informers.informer(CONFIG_MAP, scope()), clock: systemClock });
    cache.addIndex('value', (object) => [(object['data'] as { value: string }).value]);
    informers.start();
    await informers.waitForSync();
  });

  /** The informers hear nothing until the test ends it. */
  function deafen(): () => void {
    proxy.fault = () => 'silence';
    proxy.cut();
    return () => {
      proxy.fault = () => undefined;
      proxy.cut();
    };
  }

  function valueOf(name: string): string | undefined {
    return (cache.get(`${namespace}/${name}`)?.['data'] as { value: string } | undefined)?.value;
  }

  it('sees what it created and changed while the informer lags behind, and waits for it to catch up', async () => {
    const hear = deafen();
    cache.remember(await admin.create(configMap('a'), asTester));
    const changed = await admin.apply(configMap('a', '2'), asTester, { force: true });
    cache.remember(changed);
    expect(valueOf('a')).toBe('2');
    expect(cache.byIndex('value', '2')).toHaveLength(1);
    await expect(cache.waitFor(changed, 50)).resolves.toBe(false);
    const waiting = cache.waitFor(changed, 30_000);
    hear();
    await expect(waiting).resolves.toBe(true);
    expect([valueOf('a'), cache.size]).toEqual(['2', 0]);
  });

  it('sees the end of what it created, also when nobody watched it come and go', async () => {
    const hear = deafen();
    const created = await admin.create(configMap('a'), asTester);
    cache.remember(created);
    await admin.delete(referenceOf(created), { uid: created.metadata.uid ?? '' }, asTester);
    expect(valueOf('a')).toBe('1');
    const later = await admin.create(configMap('later'), asTester);
    hear();
    await eventually(() => cache.get(`${namespace}/later`));
    expect(valueOf('a')).toBeUndefined();
    await expect(cache.waitFor(created, 0)).resolves.toBe(true);
    await expect(cache.waitFor(later, 0)).resolves.toBe(true);
  });

  it('sees what others changed after it', async () => {
    const own = await admin.create(configMap('a'), asTester);
    cache.remember(own);
    await admin.apply(configMap('a', 'theirs'), asTester, { force: true });
    await eventually(() => valueOf('a') === 'theirs');
    cache.remember(own);
    expect([valueOf('a'), cache.size]).toEqual(['theirs', 0]);
  });
});

describe('finalizers and owners, at an API server', () => {
  const FINALIZER = 'example.com/cleanup';

  it('a finalizer is added and removed, each by one patch, and not to an object that changed meanwhile', async () => {
    const created = await admin.create(configMap('a'), asTester);
    const held = await addFinalizer(admin, created, FINALIZER, asTester);
    expect(held.metadata.finalizers).toEqual([FINALIZER]);
    await expect(addFinalizer(admin, created, 'example.com/other', asTester)).rejects.toThrow(WaitingError);
    const free = await removeFinalizer(admin, held, FINALIZER, asTester);
    expect(free.metadata.finalizers ?? []).toEqual([]);
  });

  it('an owned object is one that the API server takes, and that its owner leads the garbage collector to', async () => {
    const owner = await admin.create(configMap('owner'), asTester);
    const child = await admin.create(withControllerReference(configMap('child'), owner), asTester);
    await admin.delete(referenceOf(owner), { uid: owner.metadata.uid ?? '' }, asTester, {
      propagationPolicy: 'Foreground',
    });
    await eventually(async () => (await admin.get(referenceOf(child))) === undefined);
  });
});
