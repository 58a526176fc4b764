import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { Labels, Metrics } from '../../src/kernel/index.ts';
import { KubernetesClient, TooManyRequestsError, UnreachableError } from '../../src/kubernetes/index.ts';
import type { KubernetesClientOptions } from '../../src/kubernetes/index.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import type { Fault, SeenRequest } from '../support/fault-proxy.ts';
import { asTester, createNamespace, eventually } from '../support/lab.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

let account: BoundServiceAccount;
let namespace: string;
let proxy: FaultProxy;
const clients: KubernetesClient[] = [];

beforeAll(async () => {
  account = await serviceAccountWith('eu-1', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]);
  namespace = await createNamespace('eu-1');
  return () => account.remove();
});

beforeEach(async () => {
  proxy = await FaultProxy.start(account.connection);
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await proxy.stop();
});

async function open(options: Partial<KubernetesClientOptions> = {}): Promise<KubernetesClient> {
  const client = new KubernetesClient({
    cluster: 'eu-1',
    connection: proxy.connection,
    clock: systemClock,
    random: () => 0,
    logger: silentLogger,
    metrics: noMetrics,
    ...options,
  });
  clients.push(client);
  await client.resourceFor(CONFIG_MAP);
  proxy.seen.length = 0;
  return client;
}

const ref = (name: string) => ({ gvk: CONFIG_MAP, namespace, name });
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });
const lease = (name: string) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace },
  spec: {},
});
const isList = ({ method, url }: SeenRequest): boolean => method === 'GET' && /\/configmaps(\?|$)/.test(url);
const isRead = ({ method, url }: SeenRequest): boolean => method === 'GET' && url.includes('/configmaps/');

describe('requests at a time', () => {
  test('a server that is silent to lists and reads still gets writes and leases', async () => {
    proxy.fault = (request) => (isList(request) || isRead(request) ? 'silence' : undefined);
    const client = await open({ requestTimeout: 20_000 });
    const waiting = Array.from({ length: 100 }, () => [
      client.list(CONFIG_MAP, { namespace }),
      client.get(ref('absent')),
    ]).flat();
    const given = Promise.allSettled(waiting);
    await eventually(() => proxy.seen.length >= 24);
    await client.create(configMap('beside-lists'), asTester);
    await client.create(lease('beside-lists'), asTester);
    expect(proxy.seen.filter(isList)).toHaveLength(8);
    expect(proxy.seen.filter((request) => isList(request) || isRead(request))).toHaveLength(24);
    await client.close();
    expect((await given).every(({ status }) => status === 'rejected')).toBe(true);
  });

  test('lists of which the answer is read give their places back, whether read or not accepted', async () => {
    const client = await open();
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 10 }, () => client.list(CONFIG_MAP, { namespace })));
      proxy.fault = (request) => (isList(request) ? { status: 200, body: '{"kind":' } : undefined);
      await Promise.all(
        Array.from({ length: 10 }, () => expect(client.list(CONFIG_MAP, { namespace })).rejects.toThrow()),
      );
      proxy.fault = () => undefined;
    }
  });

  test('are those that the limits say, also when these change', async () => {
    let limits = { inFlight: 4, perSecond: 1000, burst: 1000 };
    proxy.fault = (request) => (isRead(request) ? 'silence' : undefined);
    const client = await open({ limits: () => limits, requestTimeout: 20_000 });
    const given = Promise.allSettled(Array.from({ length: 100 }, () => client.get(ref('absent'))));
    await eventually(() => proxy.seen.length >= 3);
    await systemClock.sleep(200);
    expect(proxy.seen).toHaveLength(3);
    limits = { ...limits, inFlight: 16 };
    await client.create(configMap('after-a-change'), asTester);
    await eventually(() => proxy.seen.filter(isRead).length === 12);
    await client.close();
    await given;
  });
});

describe('requests a second', () => {
  test('are those that the limits say', async () => {
    const client = await open({ limits: () => ({ inFlight: 32, perSecond: 20, burst: 5 }) });
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 25 }, () => client.get(ref('absent'))));
    expect(performance.now() - startedAt).toBeGreaterThan(900);
  });

  test('a call that would not have its turn in time fails, and nothing is sent', async () => {
    const client = await open({ limits: () => ({ inFlight: 32, perSecond: 0.1, burst: 3 }), requestTimeout: 500 });
    await expect(client.get(ref('absent'))).resolves.toBeUndefined();
    await expect(client.get(ref('absent'))).rejects.toThrow(UnreachableError);
    expect(proxy.seen).toHaveLength(1);
  });
});

describe('a 429 with Retry-After', () => {
  const slowDown: Fault = { status: 429, headers: { 'retry-after': '2' }, body: 'slowly' };

  test('holds all calls to this cluster until then, and none to another', async () => {
    let isBusy = true;
    const client = await open();
    const other = await FaultProxy.start(account.connection);
    const elsewhere = await open({ cluster: 'us-1', connection: other.connection });
    proxy.fault = () => (isBusy ? slowDown : undefined);
    const calls = [client.get(ref('absent')), client.create(configMap('held-back'), asTester)];
    await eventually(() => proxy.seen.length === 2);
    calls.push(...Array.from({ length: 20 }, () => client.get(ref('absent'))));
    await elsewhere.get(ref('absent'));
    await systemClock.sleep(1000);
    expect(proxy.seen).toHaveLength(2);
    isBusy = false;
    await Promise.all(calls);
    expect(proxy.seen).toHaveLength(2 + 22);
    await other.stop();
  });

  test('that is repeated is met by one call at a time', async () => {
    const client = await open({ requestTimeout: 5000 });
    proxy.fault = () => ({ ...slowDown, headers: { 'retry-after': '1' } });
    const refused = Array.from({ length: 20 }, () =>
      expect(client.get(ref('absent'))).rejects.toThrow(TooManyRequestsError),
    );
    await Promise.all(refused);
    // Twenty at first, which nobody had told; then one a second.
    expect(proxy.seen.length).toBeLessThanOrEqual(20 + 7);
  });

  test('for longer than calls wait is answered in its place, without asking again', async () => {
    const client = await open();
    proxy.fault = () => ({ ...slowDown, headers: { 'retry-after': '60' } });
    await expect(client.get(ref('absent'))).rejects.toThrow(TooManyRequestsError);
    const again = client.create(configMap('refused'), asTester);
    await expect(again).rejects.toThrow(TooManyRequestsError);
    await expect(again).rejects.toMatchObject({ retryAfterSeconds: expect.closeTo(60, -1) as number });
    expect(proxy.seen).toHaveLength(1);
  });

  test('does not hold leases', async () => {
    const client = await open();
    await client.resourceFor({ group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' });
    proxy.fault = ({ url }) =>
      url.includes('configmaps') ? { ...slowDown, headers: { 'retry-after': '60' } } : undefined;
    await expect(client.get(ref('absent'))).rejects.toThrow(TooManyRequestsError);
    await client.create(lease('in-a-pause'), asTester);
  });
});

describe('a server that is not ready', () => {
  test('and says when to come back is read from then', async () => {
    const client = await open();
    proxy.fault = () => (proxy.seen.length < 3 ? { status: 503, headers: { 'retry-after': '0' } } : undefined);
    await expect(client.get(ref('absent'))).resolves.toBeUndefined();
    expect(proxy.seen).toHaveLength(3);
  });

  test('is not written to again: the write may have been carried out', async () => {
    const client = await open();
    proxy.fault = () => ({ status: 503, headers: { 'retry-after': '0' } });
    await expect(client.create(configMap('perhaps'), asTester)).rejects.toMatchObject({ status: 503 });
    expect(proxy.seen).toHaveLength(1);
  });
});

test('what is sent, awaited, repeated and dialed is counted; only counters tell clusters apart', async () => {
  const labels = new Map<string, Set<string>>();
  const note = (name: string) => (given: Labels) => {
    const values = Object.entries(given).map(([label, value]) => `${label}=${value}`);
    labels.set(name, new Set([...(labels.get(name) ?? []), values.join(' ')]));
  };
  const metrics: Metrics = {
    ...noMetrics,
    counter: ({ name }) => ({ inc: note(name) }),
    histogram: ({ name }) => ({ observe: note(name) }),
  };
  const client = await open({ metrics });
  proxy.fault = () => (proxy.seen.length === 1 ? { status: 503, headers: { 'retry-after': '0' } } : undefined);
  await client.get(ref('absent'));
  proxy.fault = () => ({ status: 404, headers: { warning: '299 - "old"' } });
  await expect(client.create(configMap('counted'), asTester)).rejects.toThrow();
  const verbs = ['verb=GET', 'verb=POST'];
  expect(Object.fromEntries([...labels].map(([name, values]) => [name, [...values].toSorted()]))).toEqual({
    rest_client_requests_total: [
      'code=200 method=GET cluster=eu-1',
      'code=404 method=GET cluster=eu-1',
      'code=404 method=POST cluster=eu-1',
      'code=503 method=GET cluster=eu-1',
    ],
    rest_client_request_retries_total: ['code=503 verb=GET cluster=eu-1'],
    rest_client_connections_total: ['protocol=http/1.1 result=success cluster=eu-1'],
    rest_client_warnings_total: ['cluster=eu-1'],
    rest_client_request_duration_seconds: verbs,
    rest_client_rate_limiter_duration_seconds: verbs,
    rest_client_request_size_bytes: verbs,
    rest_client_response_size_bytes: verbs,
  });
});
