import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { Clock, Labels } from '../../src/kernel/index.ts';
import { KubernetesClient, parseKubeconfig } from '../../src/kubernetes/index.ts';
import type { KubernetesClientOptions } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, eventually, labCluster, labControl } from '../support/lab.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const LEASE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

let namespace: string;
let proxy: TcpProxy;
let dialed: Labels[];
const closing: (() => Promise<void>)[] = [];

beforeEach(async () => {
  namespace = await createNamespace('eu-1');
  proxy = await TcpProxy.start(() => Number(new URL(labCluster('eu-1').server).port));
  dialed = [];
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await proxy.stop();
});

function open(options: Partial<KubernetesClientOptions> = {}): KubernetesClient {
  const { kubeconfig } = labCluster('eu-1');
  const client = new KubernetesClient({
    cluster: 'eu-1',
    connection: { ...parseKubeconfig(kubeconfig), server: `https://127.0.0.1:${proxy.port}` },
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    metrics: {
      ...noMetrics,
      counter: ({ name }) => ({ inc: (labels) => name === 'rest_client_connections_total' && dialed.push(labels) }),
    },
    ...options,
  });
  closing.push(() => client.close());
  return client;
}

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });
const sessions = (): number => dialed.filter(({ protocol }) => protocol === 'h2').length;

/** Opens watches that count what they are told, and stops them in the end. */
function watch(client: KubernetesClient, count: number): { readonly opened: () => number; readonly told: Set<number> } {
  const stop = new AbortController();
  const told = new Set<number>();
  let opened = 0;
  const watching = Array.from({ length: count }, async (_, index) => {
    const options = { namespace, resourceVersion: '0', onOpen: () => (opened += 1), signal: stop.signal };
    for await (const { object } of client.watch(CONFIG_MAP, options)) {
      if (object.metadata.name === 'news') told.add(index);
    }
  });
  closing.unshift(async () => {
    stop.abort();
    await Promise.all(watching);
  });
  return { opened: () => opened, told };
}

describe('watches', () => {
  test('more than a hundred at once share few connections; writes, reads and leases go on beside them', async () => {
    const client = open();
    const { opened, told } = watch(client, 250);
    await eventually(() => opened() === 250);
    expect(sessions()).toBe(4);
    await client.create(configMap('news'), asTester);
    await client.create({ ...LEASE, metadata: { name: 'held', namespace }, spec: {} }, asTester);
    await client.list(CONFIG_MAP, { namespace });
    await eventually(() => told.size === 250);
    expect(proxy.handshakes).toBeLessThan(4 + 10);
  });

  test('leave no connection behind', async () => {
    const client = open();
    const { opened } = watch(client, 100);
    await eventually(() => opened() === 100);
    await client.close();
    await eventually(() => proxy.open === 0);
  });
});

describe('a half-open connection', () => {
  test('is noticed by its watches within 45 s, which go on over another one', async () => {
    const client = open({ clock: fast });
    const factory = new SharedInformerFactory({
      client,
      clock: systemClock,
      random: Math.random,
      logger: silentLogger,
      metrics: noMetrics,
    });
    const { lister } = factory.informer(CONFIG_MAP, { namespace });
    factory.start();
    closing.unshift(() => factory.stop());
    await factory.waitForSync();
    const watches = vi.spyOn(client, 'watch');
    proxy.freeze();
    await adminClient('eu-1').create(configMap('news'), asTester);
    await eventually(() => lister.get(`${namespace}/news`) !== undefined);
    // The server would have ended the watch after minutes, and the informer after 90 s.
    expect(watches.mock.calls.map(([, { sendInitialEvents }]) => sendInitialEvents)).toEqual([undefined]);
  });

  test('that is merely quiet is kept', async () => {
    const { opened } = watch(open({ clock: fast }), 1);
    await eventually(() => opened() === 1);
    await systemClock.sleep(200_000 / SPEED);
    expect(proxy.open).toBeGreaterThan(0);
    expect(sessions()).toBe(1);
  });

  test('costs requests one time-out, not one for each connection that was kept', async () => {
    const client = open({ requestTimeout: 500 });
    await Promise.all(Array.from({ length: 10 }, () => client.version()));
    proxy.freeze();
    await expect(client.version()).rejects.toMatchObject({ code: 'TIMEOUT' });
    await expect(client.version()).resolves.toHaveProperty('gitVersion');
  });
});

describe('an API server that is stopped', () => {
  test('has its watches moved, and informers know what happened meanwhile when it is back', async () => {
    const client = open();
    const factory = new SharedInformerFactory({
      client,
      clock: systemClock,
      random: Math.random,
      logger: silentLogger,
      metrics: noMetrics,
    });
    const { lister } = factory.informer(CONFIG_MAP, { namespace });
    factory.start();
    closing.unshift(() => factory.stop());
    await factory.waitForSync();
    const before = dialed.length;
    try {
      // It says goodbye, refuses connections, and would wait a minute for its watches to end, mute.
      await labControl().act('stop', 'eu-1/kube-apiserver');
      expect(dialed.length).toBeGreaterThan(before);
    } finally {
      await labControl().act('start', 'eu-1/kube-apiserver');
    }
    await eventually(async () => {
      await adminClient('eu-1').apply(configMap('news'), asTester);
      return true;
    });
    await eventually(() => lister.get(`${namespace}/news`) !== undefined);
  });
});

/** A clock that runs twenty times as fast. */
const SPEED = 20;
const fast: Clock = {
  ...systemClock,
  monotonic: () => systemClock.monotonic() * SPEED,
  after: (milliseconds, callback) => systemClock.after(milliseconds / SPEED, callback),
  sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / SPEED, signal),
};
