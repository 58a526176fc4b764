import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import type { EventHandler, SharedInformer } from '../../src/informers/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { Clock, Metrics } from '../../src/kernel/index.ts';
import { KubernetesClient, parseKubeconfig } from '../../src/kubernetes/index.ts';
import { asTester, eventually } from '../support/lab.ts';
import { OwnCluster } from '../support/own-cluster.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
/** There without any controller. */
const namespace = 'default';
/** Ninety seconds of an informer's time are nine of a test's. */
const SPEED = 10;

const fastClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() * SPEED,
  after: (milliseconds, callback) => systemClock.after(milliseconds / SPEED, callback),
  sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / SPEED, signal),
};

let cluster: OwnCluster;
let proxy: TcpProxy;
let client: KubernetesClient;
let factory: SharedInformerFactory;
let lists: number;
let failures: string[];

beforeAll(async () => {
  cluster = await OwnCluster.start();
});

afterAll(() => cluster.stop());

beforeEach(async () => {
  lists = 0;
  failures = [];
  proxy = await TcpProxy.start(() => Number(new URL(cluster.description.server).port));
});

afterEach(async () => {
  await factory.stop();
  await client.close();
  await proxy.stop();
  for (const name of ['a', 'b', 'c', 'd']) await remove(name);
});

async function put(name: string, value: string): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { value } };
  await cluster.admin.apply(object, asTester);
}

async function remove(name: string): Promise<void> {
  const live = await cluster.admin.get({ gvk: CONFIG_MAP, namespace, name });
  const uid = live?.metadata.uid;
  if (uid !== undefined) await cluster.admin.delete({ gvk: CONFIG_MAP, namespace, name }, { uid }, asTester);
}

/** An informer that has synced over the proxy. */
async function inform(clock: Clock = systemClock): Promise<{ informer: SharedInformer; told: string[] }> {
  const metrics: Metrics = {
    ...noMetrics,
    counter: ({ name }) => ({
      inc: ({ error = '' }) => {
        if (name === 'informer_failures_total') failures.push(error);
        if (name === 'informer_lists_total') lists += 1;
      },
    }),
  };
  const ports = { clock, random: () => 0, logger: silentLogger };
  const server = `https://127.0.0.1:${proxy.port}`;
  const connection = { ...parseKubeconfig(cluster.description.kubeconfig), server };
  client = new KubernetesClient({ cluster: 'own', connection, metrics: noMetrics, ...ports });
  factory = new SharedInformerFactory({ client, metrics, ...ports });
  const informer = factory.informer(CONFIG_MAP, { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' });
  const told: string[] = [];
  informer.addHandler(noting(told));
  factory.start();
  await factory.waitForSync();
  return { informer, told };
}

function noting(told: string[]): EventHandler {
  return {
    onAdd: ({ metadata }) => told.push(`add ${metadata.name}`),
    onUpdate: (_previous, { metadata }) => told.push(`update ${metadata.name}`),
    onDelete: ({ metadata }) => told.push(`delete ${metadata.name}`),
  };
}

/** What is in memory: "a=1 b=2". */
function contentOf({ lister }: SharedInformer): string {
  return lister
    .list()
    .map(({ metadata, data }) => `${metadata.name}=${(data as { value: string }).value}`)
    .toSorted()
    .join(' ');
}

describe('an API server', () => {
  test('that is restarted is followed on: nothing is missed, and nothing told twice', async () => {
    await put('a', '1');
    const { informer, told } = await inform();
    await cluster.restartApiServer();
    await put('b', '2');
    await eventually(() => contentOf(informer) === 'a=1 b=2');
    expect(told).toEqual(['add a', 'add b']);
  });

  test('that is restarted is followed on by fifty informers at a time, each of which lists anew once at most', async () => {
    const { told } = await inform();
    told.length = 0;
    const scopes = Array.from({ length: 50 }, (_, index) => ({ namespace, labelSelector: `team!=none-${index}` }));
    const informers = scopes.map((scope) => factory.informer(CONFIG_MAP, scope));
    await factory.waitForSync();
    await cluster.restartApiServer();
    await put('c', '1');
    const haveSeen = (): boolean => informers.every(({ lister }) => lister.get(`${namespace}/c`) !== undefined);
    await eventually(haveSeen, { timeout: 60_000, message: 'all have seen what came after the restart' });
    // Its watch cache begins with what its storage is at: for it, any version from before may have expired.
    expect(lists).toBeLessThanOrEqual(2 * (1 + informers.length));
    expect(told).toEqual(['add c']);
  });

  test('that dropped its history while the informer was away is listed again; only what changed is told', async () => {
    for (const name of ['a', 'b', 'c']) await put(name, '1');
    const { informer, told } = await inform();
    told.length = 0;
    await proxy.stop();
    await remove('a');
    await put('b', '2');
    await put('d', '1');
    await cluster.compact();
    // A restarted API server has no history but that of its storage.
    await cluster.kill();
    await cluster.startServices();
    await proxy.listen();
    await eventually(() => contentOf(informer) === 'b=2 c=1 d=1', { timeout: 60_000 });
    expect(told.toSorted()).toEqual(['add d', 'delete a', 'update b']);
    expect(failures).toContain('ExpiredError');
    expect(lists).toBe(2);
  });
});

describe('a storage that is restored from a backup', () => {
  test('is noticed by the versions: what came after the backup is gone, what comes now is seen', async () => {
    await put('a', '1');
    await put('b', '1');
    await cluster.backUp();
    const { informer, told } = await inform();
    await remove('b');
    for (const value of ['2', '3', '4', '5']) await put('a', value);
    await put('c', '1');
    await eventually(() => contentOf(informer) === 'a=5 c=1');
    told.length = 0;
    await cluster.restore();
    await eventually(() => failures.includes('ServerBehindError'), { timeout: 60_000 });
    await eventually(() => contentOf(informer) === 'a=1 b=1', { timeout: 60_000 });
    expect(told.toSorted()).toEqual(['add b', 'delete c', 'update a']);
    await put('d', '1');
    await eventually(() => contentOf(informer) === 'a=1 b=1 d=1');
  });
});

describe('a connection that is half-open', () => {
  test('is noticed: the watch goes on over another from its version', async () => {
    await put('a', '1');
    const { informer } = await inform(fastClock);
    expect(proxy.freeze()).toBeGreaterThan(0);
    await put('a', '2');
    await eventually(() => contentOf(informer) === 'a=2', { timeout: 60_000 });
    expect(lists).toBe(1);
  });
});
