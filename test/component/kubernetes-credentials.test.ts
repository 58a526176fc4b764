import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { Labels } from '../../src/kernel/index.ts';
import { KubernetesClient, UnauthorizedError, UnreachableError, parseKubeconfig } from '../../src/kubernetes/index.ts';
import type { Connection, ConnectionSource, WriteContext } from '../../src/kubernetes/index.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { asTester, auditEvents, createNamespace, eventually, labCluster } from '../support/lab.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

/** A connection that a test changes. */
class TestSource implements ConnectionSource {
  refreshes = 0;
  onRefresh: () => void = () => undefined;
  readonly #callbacks = new Set<() => void>();
  #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  current(): Connection {
    return this.#connection;
  }

  onChange(callback: () => void): () => void {
    this.#callbacks.add(callback);
    return () => void this.#callbacks.delete(callback);
  }

  change(parts: Partial<Connection>): void {
    this.#connection = { ...this.#connection, ...parts };
    for (const callback of this.#callbacks) callback();
  }

  async refresh(): Promise<void> {
    this.refreshes += 1;
    await systemClock.sleep(50);
    this.onRefresh();
  }
}

let first: BoundServiceAccount;
let second: BoundServiceAccount;
let namespace: string;
let proxy: TcpProxy;
let source: TestSource;
let client: KubernetesClient;
let counted: Labels[];

beforeAll(async () => {
  const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  [first, second] = await Promise.all([serviceAccountWith('eu-1', everything), serviceAccountWith('eu-1', everything)]);
  namespace = await createNamespace('eu-1');
});

afterAll(() => Promise.all([first.remove(), second.remove()]));

beforeEach(async () => {
  counted = [];
  proxy = await TcpProxy.start(() => Number(new URL(first.connection.server).port));
  source = new TestSource({ ...first.connection, server: `https://127.0.0.1:${proxy.port}` });
  client = open(source);
});

afterEach(async () => {
  await client.close();
  await proxy.stop();
});

function open(connection: ConnectionSource): KubernetesClient {
  return new KubernetesClient({
    cluster: 'eu-1',
    connection,
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    metrics: { ...noMetrics, counter: () => ({ inc: (labels) => counted.push(labels) }) },
  });
}

const never = new AbortController().signal;

/** A proxy that speaks HTTP/1.1 only. */
async function startHttp1Proxy(): Promise<FaultProxy> {
  const started = await FaultProxy.start(first.connection);
  onTestFinished(() => started.stop());
  return started;
}

const ref = (name: string) => ({ gvk: CONFIG_MAP, namespace, name });
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });
const answered = (code: string): number =>
  counted.filter((labels) => labels['code'] === code && 'method' in labels).length;

/** Who created a ConfigMap, by the API server's audit log. */
async function creatorOf(name: string): Promise<string | undefined> {
  const events = await auditEvents(labCluster('eu-1'));
  return events.find(({ verb, requestURI, objectRef }) => {
    return verb === 'create' && requestURI.includes(`/${namespace}/configmaps`) && objectRef?.name === name;
  })?.user.username;
}

describe('credentials that change while a client lives', () => {
  test('a token: an informer goes on from where it was, and its watch is one of the new token', async () => {
    const factory = new SharedInformerFactory({
      client,
      clock: systemClock,
      random: Math.random,
      logger: silentLogger,
      metrics: noMetrics,
    });
    const { lister } = factory.informer(CONFIG_MAP, { namespace });
    factory.start();
    await factory.waitForSync();
    await systemClock.sleep(1000);
    const [lists, watches] = [vi.spyOn(client, 'list'), vi.spyOn(client, 'watch')];

    source.change({ token: second.connection.token ?? '' });
    await client.create(configMap('by-the-second'), asTester);
    await eventually(() => watches.mock.calls.length > 0);
    await client.create(configMap('seen-by-the-second'), asTester);
    await eventually(() => lister.get(`${namespace}/seen-by-the-second`) !== undefined);

    expect(await creatorOf('by-the-second')).toBe(second.username);
    expect(watches.mock.calls.map(([, { sendInitialEvents }]) => sendInitialEvents)).toEqual([undefined]);
    // A reflector asks with a limit of one for the newest version; anything else would be a new list.
    expect(lists.mock.calls.filter(([, options]) => options?.limit !== 1)).toEqual([]);
    await factory.stop();
  });

  test('a client certificate: nothing more is sent over the connections that were opened with it', async () => {
    const { clientCertificate = '', clientKey = '' } = parseKubeconfig(labCluster('eu-1').kubeconfig);
    const { server, caData = '' } = source.current();
    const changing = new TestSource({ server, caData, clientCertificate, clientKey });
    const certified = open(changing);
    await certified.create(configMap('by-certificate'), asTester);
    changing.change({ clientCertificate: undefined, clientKey: undefined, token: first.connection.token } as never);
    await certified.create(configMap('by-token'), asTester);
    changing.change({ clientCertificate, clientKey, token: undefined } as never);
    await certified.create(configMap('by-certificate-again'), asTester);
    await certified.close();
    const creators = ['by-certificate', 'by-token', 'by-certificate-again'].map((name) => creatorOf(name));
    expect(await Promise.all(creators)).toEqual(['atoll-lab:admin', first.username, 'atoll-lab:admin']);
  });

  test('an authority that does not vouch for the server: nothing is sent, and nothing falls back to the former', async () => {
    await client.get(ref('absent'));
    const { caData = '' } = source.current();
    source.change({ caData: parseKubeconfig(labCluster('hub').kubeconfig).caData ?? '' });
    const before = answered('404');
    await expect(client.get(ref('absent'))).rejects.toThrow(UnreachableError);
    expect(answered('404')).toBe(before);
    source.change({ caData });
    await expect(client.get(ref('absent'))).resolves.toBeUndefined();
  });

  test.each([
    ['HTTP/2', () => Promise.resolve(source)],
    ['HTTP/1.1', async () => new TestSource((await startHttp1Proxy()).connection)],
  ])('a watch over %s ends as if the server had ended it', async (_, sourceOf) => {
    const changing = await sourceOf();
    const watching = open(changing);
    const opened = Promise.withResolvers<void>();
    const ended = (async () => {
      const options = { namespace, resourceVersion: '0', onOpen: () => opened.resolve(), signal: never };
      for await (const { type } of watching.watch(CONFIG_MAP, options)) expect(type).toBe('ADDED');
    })();
    await opened.promise;
    changing.change({ token: second.connection.token ?? '' });
    await expect(ended).resolves.toBeUndefined();
    await watching.close();
  });

  test('old connections are closed once they are not needed', async () => {
    await Promise.all(Array.from({ length: 10 }, () => client.get(ref('absent'))));
    source.change({ token: second.connection.token ?? '' });
    await client.get(ref('absent'));
    await eventually(() => proxy.open === 1);
  });
});

describe('a 401', () => {
  beforeEach(async () => {
    await client.resourceFor(CONFIG_MAP);
    counted.length = 0;
    source.change({ token: 'expired' });
    source.onRefresh = () => source.change({ token: second.connection.token ?? '' });
  });

  test('has the credentials read anew, once for all who got it, and each sent again once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => client.get(ref('absent'))));
    expect(source.refreshes).toBe(1);
    expect([answered('401'), answered('404')]).toEqual([20, 20]);
  });

  test('has a write sent again, after its guard was asked again', async () => {
    let asked = 0;
    const write: WriteContext = { ...asTester, guard: () => (asked += 1) };
    await client.create(configMap('after-a-refusal'), write);
    expect(asked).toBe(2);
    expect([answered('401'), answered('201')]).toEqual([1, 1]);
  });

  test('has a watch opened again', async () => {
    const stop = new AbortController();
    const opened = Promise.withResolvers<void>();
    const watching = (async () => {
      const options = { namespace, resourceVersion: '0', onOpen: () => opened.resolve(), signal: stop.signal };
      for await (const { type } of client.watch(CONFIG_MAP, options)) expect(type).toBe('ADDED');
    })();
    await opened.promise;
    expect(source.refreshes).toBe(1);
    stop.abort();
    await watching;
  });

  test('that nothing helps against is not fetched from the server again and again', async () => {
    source.onRefresh = () => undefined;
    for (let index = 0; index < 50; index += 1)
      await expect(client.get(ref('absent'))).rejects.toThrow(UnauthorizedError);
    expect(answered('401')).toBeLessThanOrEqual(2);
    source.change({ token: second.connection.token ?? '' });
    await expect(client.get(ref('absent'))).resolves.toBeUndefined();
  });

  test('does not keep a caller who gives up', async () => {
    source.refresh = () => Promise.withResolvers<void>().promise;
    const stop = new AbortController();
    const reading = client.get(ref('absent'), { signal: stop.signal });
    await eventually(() => answered('401') === 1);
    stop.abort(new Error('no longer needed'));
    await expect(reading).rejects.toThrow('no longer needed');
  });
});
