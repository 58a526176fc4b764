import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LeaseLostError, noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { Labels, Metrics } from '../../src/kernel/index.ts';
import {
  ApiError,
  KindNotFoundError,
  KubernetesClient,
  NotFoundError,
  TooManyRequestsError,
  UnauthorizedError,
  UnexpectedAnswerError,
  UnreachableError,
} from '../../src/kubernetes/index.ts';
import type { Connection, KubernetesClientOptions, WriteContext } from '../../src/kubernetes/index.ts';
import { freePort } from '../lab/ports.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { adminClient, asTester, createNamespace, eventually, uniqueName } from '../support/lab.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

let account: BoundServiceAccount;
let namespace: string;
let proxy: FaultProxy;
let client: KubernetesClient;

beforeAll(async () => {
  account = await serviceAccountWith('eu-1', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]);
  namespace = await createNamespace('eu-1');
});

afterAll(() => account.remove());

beforeEach(async () => {
  proxy = await FaultProxy.start(account.connection);
  client = newClient(proxy.connection);
});

afterEach(async () => {
  await client.close();
  await proxy.stop();
});

function newClient(connection: Connection, options: Partial<KubernetesClientOptions> = {}): KubernetesClient {
  return new KubernetesClient({
    cluster: 'eu-1',
    connection,
    clock: systemClock,
    random: () => 0,
    logger: silentLogger,
    metrics: noMetrics,
    ...options,
  });
}

const ref = (name: string) => ({ gvk: CONFIG_MAP, namespace, name });
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });
const writes = () => proxy.seen.filter(({ method }) => method !== 'GET');

describe('connections', () => {
  test('are kept: a hundred reads open hardly any', async () => {
    for (let index = 0; index < 100; index += 1) await client.get(ref('absent'));
    // Discovery reads two documents at a time, and a connection counts as free only a moment after its answer.
    expect(proxy.connections).toBeLessThanOrEqual(4);
  });

  test('are bounded, and watches do not use them up', async () => {
    // A slow machine takes its time for so many TLS connections as the proxy opens behind it.
    const patient = newClient(proxy.connection, { requestTimeout: 60_000 });
    const stop = new AbortController();
    const watching = Array.from({ length: 40 }, async () => {
      for await (const event of patient.watch(CONFIG_MAP, { namespace, resourceVersion: '0', signal: stop.signal })) {
        expect(event.type).toBe('ADDED');
      }
    });
    await eventually(() => proxy.seen.filter(({ url }) => url.includes('watch=true')).length === 40);
    const before = proxy.connections;
    await Promise.all(Array.from({ length: 100 }, () => patient.get(ref('absent'))));
    expect(proxy.connections - before).toBeLessThanOrEqual(32);
    stop.abort();
    await Promise.all(watching);
    await patient.close();
  });

  test('that were closed meanwhile are noticed by a read, which is sent again', async () => {
    await client.get(ref('absent'));
    let isFirst = true;
    proxy.fault = () => {
      const fault = isFirst ? ('cut' as const) : undefined;
      isFirst = false;
      return fault;
    };
    await expect(client.get(ref('absent'))).resolves.toBeUndefined();
  });

  test('a write whose connection breaks is not sent again: it may have been carried out', async () => {
    await client.get(ref('absent'));
    proxy.fault = () => 'cut';
    await expect(client.create(configMap('once'), asTester)).rejects.toThrow(UnreachableError);
    expect(writes()).toHaveLength(1);
  });
});

describe('writes', () => {
  test('carry a server time-out, their field manager and their identity', async () => {
    const identity = { kind: 'serviceAccount', namespace, name: 'tenant' } as const;
    await expect(client.apply(configMap('tagged'), { ...asTester, identity })).rejects.toThrow(ApiError);
    const [write] = writes();
    const query = new URL(write?.url ?? '', 'https://x').searchParams;
    expect(Object.fromEntries(query)).toEqual({ fieldManager: 'test', fieldValidation: 'Strict', timeout: '4s' });
    expect(write?.headers['impersonate-user']).toBe(`system:serviceaccount:${namespace}:tenant`);
    expect(write?.headers['content-type']).toBe('application/apply-patch+yaml');
  });

  test('that the guard forbids are not sent', async () => {
    const guard = () => {
      throw new LeaseLostError('another replica has the lease');
    };
    const write: WriteContext = { ...asTester, guard };
    await client.resourceFor(CONFIG_MAP);
    await expect(client.create(configMap('guarded'), write)).rejects.toThrow(LeaseLostError);
    await expect(client.apply(configMap('guarded'), write)).rejects.toThrow(LeaseLostError);
    await expect(client.jsonPatch(ref('guarded'), [], write)).rejects.toThrow(LeaseLostError);
    await expect(client.delete(ref('guarded'), { uid: 'x' }, write)).rejects.toThrow(LeaseLostError);
    expect(writes()).toEqual([]);
  });

  test('that a 429 puts off for a moment are repeated, and guarded again', async () => {
    let guarded = 0;
    proxy.fault = ({ method }) => {
      if (method === 'GET' || writes().length > 1) return undefined;
      return { status: 429, headers: { 'retry-after': '1' }, body: 'slowly' };
    };
    const write: WriteContext = { ...asTester, guard: () => (guarded += 1) };
    await client.create(configMap('patient'), write);
    expect(guarded).toBe(2);
  });

  test.each([
    ['for long', '60', 1],
    ['again and again', '0', 3],
  ])('that a 429 puts off %s fail, and say for how long', async (_behaviour, retryAfter, sent) => {
    proxy.fault = ({ method }) =>
      method === 'GET' ? undefined : { status: 429, headers: { 'retry-after': retryAfter }, body: 'slowly' };
    const refused = client.create(configMap('impatient'), asTester);
    await expect(refused).rejects.toThrow(TooManyRequestsError);
    await expect(refused).rejects.toMatchObject({ retryAfterSeconds: Number(retryAfter) });
    expect(writes()).toHaveLength(sent);
  });

  test('that are not answered are given up before a lease can have passed to another', async () => {
    proxy.fault = ({ method }) => (method === 'GET' ? undefined : 'silence');
    const startedAt = performance.now();
    await expect(client.create(configMap('unanswered'), asTester)).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });
});

describe('what is not an answer of an API server', () => {
  test('a redirect is refused, and nothing is sent to where it points', async () => {
    const thief = await FaultProxy.start();
    thief.fault = () => ({ status: 200, body: '{}' });
    proxy.fault = ({ url }) =>
      url.startsWith('/api/v1/') ? { status: 302, headers: { location: thief.connection.server } } : undefined;
    await expect(client.get(ref('x'))).rejects.toThrow(UnexpectedAnswerError);
    await expect(client.create(configMap('x'), asTester)).rejects.toThrow(UnexpectedAnswerError);
    expect(thief.seen).toEqual([]);
    await thief.stop();
  });

  test.each([
    ['no JSON', '<html>'],
    ['another kind', JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } })],
    ['no object', '[]'],
    ['more than an object can be', ' '.repeat(17 * 1024 * 1024)],
  ])('%s is refused', async (_behaviour, body) => {
    proxy.fault = ({ url }) => (url.startsWith('/api/v1/') ? { status: 200, body } : undefined);
    await expect(client.get(ref('x'))).rejects.toThrow(UnexpectedAnswerError);
  });

  test('a 404 that names no object is not taken for absence, of neither object nor kind', async () => {
    proxy.fault = ({ url }) => (url.startsWith('/api/v1/') ? { status: 404, body: '404 page not found' } : undefined);
    const answer = client.get(ref('x'));
    await expect(answer).rejects.toThrow(UnexpectedAnswerError);
    await expect(answer).rejects.not.toThrow(KindNotFoundError);
  });
});

test('a Status about another object is not taken for absence', async () => {
  const details = { name: 'other', kind: 'configmaps' };
  const body = JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404, details });
  proxy.fault = ({ url }) => (url.startsWith('/api/v1/') ? { status: 404, body } : undefined);
  await expect(client.get(ref('x'))).rejects.toThrow(NotFoundError);
});

describe('a server that is not there', () => {
  test('refuses', async () => {
    const nobody = newClient({ ...proxy.connection, server: `https://127.0.0.1:${await freePort()}` });
    await expect(nobody.version()).rejects.toMatchObject({ name: 'UnreachableError', code: 'ECONNREFUSED' });
    await nobody.close();
  });

  test('is not trusted with another certificate', async () => {
    const mistaken = newClient({ ...proxy.connection, caData: account.connection.caData ?? '' });
    await expect(mistaken.version()).rejects.toThrow(UnreachableError);
    expect(proxy.seen).toEqual([]);
    await mistaken.close();
  });

  test('that is silent is given up after the time-out', async () => {
    proxy.fault = () => 'silence';
    const hurried = newClient(proxy.connection, { requestTimeout: 300 });
    await expect(hurried.version()).rejects.toMatchObject({ name: 'UnreachableError', code: 'TIMEOUT' });
    await hurried.close();
  });

  test('does not keep a caller who gives up', async () => {
    proxy.fault = () => 'silence';
    const stop = new AbortController();
    const reading = client.get(ref('x'), { signal: stop.signal });
    stop.abort(new Error('no longer needed'));
    await expect(reading).rejects.toThrow('no longer needed');
  });
});

test('a token that is not accepted is told apart, and a renewed one is used by the next request', async () => {
  let token = 'expired';
  const renewing = newClient({ ...proxy.connection, token: () => token });
  await expect(renewing.get(ref('x'))).rejects.toThrow(UnauthorizedError);
  token = account.connection.token as string;
  await expect(renewing.get(ref('x'))).resolves.toBeUndefined();
  await renewing.close();
});

test('requests are counted by code, method and cluster', async () => {
  const counted: Labels[] = [];
  const metrics: Metrics = { ...noMetrics, counter: () => ({ inc: (labels) => counted.push(labels) }) };
  const counting = newClient(proxy.connection, { metrics });
  await counting.get(ref('absent'));
  proxy.fault = () => 'cut';
  await expect(counting.create(configMap('x'), asTester)).rejects.toThrow(UnreachableError);
  expect(counted).toContainEqual({ code: '404', method: 'GET', cluster: 'eu-1' });
  expect(counted).toContainEqual({ code: '<error>', method: 'POST', cluster: 'eu-1' });
  await counting.close();
});

describe('discovery', () => {
  test('is read again for a kind that is missing, but not for each miss', async () => {
    const gvk = { group: 'nobody.example', version: 'v1', kind: 'Nothing' };
    for (let index = 0; index < 10; index += 1)
      await expect(client.resourceFor(gvk)).rejects.toThrow(KindNotFoundError);
    expect(proxy.seen.map(({ url }) => url)).toEqual(['/api', '/apis']);
    await systemClock.sleep(2100);
    await expect(client.resourceFor(gvk)).rejects.toThrow(KindNotFoundError);
    expect(proxy.seen).toHaveLength(4);
    expect(proxy.seen[3]?.headers['if-none-match']).toBeDefined();
  });

  test('that fails is no proof that a kind is missing', async () => {
    proxy.fault = ({ url }) => (url === '/apis' ? { status: 503, body: 'later' } : undefined);
    const gvk = { group: 'apps', version: 'v1', kind: 'Deployment' };
    await expect(client.resourceFor(gvk)).rejects.toMatchObject({ name: 'ApiError', status: 503 });
  });

  test('an aggregated API that does not answer leaves its kinds unknown, not missing', async () => {
    const admin = adminClient('eu-1');
    const group = `${uniqueName('down')}.atoll-test.example`;
    const name = `v1.${group}`;
    const spec = {
      group,
      version: 'v1',
      groupPriorityMinimum: 10,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
      service: { name: 'nobody', namespace },
    };
    const gvk = { group: 'apiregistration.k8s.io', version: 'v1', kind: 'APIService' };
    const created = await admin.create(
      { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name }, spec },
      asTester,
    );
    try {
      await eventually(async () => {
        const asking = client.resourceFor({ group, version: 'v1', kind: 'Nothing' });
        await expect(asking).rejects.toMatchObject({ name: 'ApiError' });
        return true;
      });
    } finally {
      await admin.delete({ gvk, name }, { uid: created.metadata.uid ?? '' }, asTester);
    }
  });
});
