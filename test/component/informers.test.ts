import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { InformerStoppedError, SharedInformerFactory } from '../../src/informers/index.ts';
import type { EventHandler, SharedInformer } from '../../src/informers/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { GroupVersionKind, KubernetesObject, Labels, Metrics } from '../../src/kernel/index.ts';
import { KindNotFoundError, KubernetesClient, UnreachableError } from '../../src/kubernetes/index.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import type { SeenRequest } from '../support/fault-proxy.ts';
import { adminClient, asTester, createNamespace, eventually, uniqueName } from '../support/lab.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

let account: BoundServiceAccount;
let admin: KubernetesClient;
let namespace: string;
let proxy: FaultProxy;
let client: KubernetesClient;
let factory: SharedInformerFactory;
let failures: Labels[];

beforeAll(async () => {
  account = await serviceAccountWith('eu-1', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]);
  admin = adminClient('eu-1');
});

afterAll(() => account.remove());

beforeEach(async () => {
  namespace = await createNamespace('eu-1');
  proxy = await FaultProxy.start(account.connection);
  failures = [];
  const common = { clock: systemClock, random: () => 0, logger: silentLogger, metrics: noMetrics };
  const metrics: Metrics = {
    ...noMetrics,
    counter: ({ name }) => ({ inc: (labels) => void (name === 'informer_failures_total' && failures.push(labels)) }),
  };
  client = new KubernetesClient({ ...common, cluster: 'eu-1', connection: proxy.connection });
  factory = new SharedInformerFactory({ ...common, client, metrics });
});

afterEach(async () => {
  await factory.stop();
  await client.close();
  await proxy.stop();
});

async function put(name: string, data: Record<string, string> = {}, labels = {}): Promise<KubernetesObject> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data };
  return admin.apply(object, asTester);
}

async function remove(name: string): Promise<void> {
  const live = await admin.get({ gvk: CONFIG_MAP, namespace, name });
  await admin.delete({ gvk: CONFIG_MAP, namespace, name }, { uid: live?.metadata.uid ?? '' }, asTester);
}

/** An informer of this test's namespace that has synced, and in words what its handler is told. */
async function inform(gvk: GroupVersionKind = CONFIG_MAP): Promise<{ informer: SharedInformer; told: string[] }> {
  const informer = factory.informer(gvk, { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' });
  const told: string[] = [];
  informer.addHandler(noting(told));
  factory.start();
  await factory.waitForSync();
  return { informer, told };
}

function noting(told: string[]): EventHandler {
  return {
    onAdd: ({ metadata }, isInInitialList) => told.push(`${isInInitialList ? 'initial' : 'add'} ${metadata.name}`),
    onUpdate: (_previous, { metadata }) => told.push(`update ${metadata.name}`),
    onDelete: ({ metadata }) => told.push(`delete ${metadata.name}`),
  };
}

async function eventuallyTold(told: readonly string[], expected: readonly string[]): Promise<void> {
  await eventually(() => {
    expect(told).toEqual(expected);
    return true;
  });
}

const isWatch = ({ url }: SeenRequest): boolean => url.includes('watch=true');
const isStreamedList = ({ url }: SeenRequest): boolean => url.includes('sendInitialEvents=true');

describe('what happens in the cluster', () => {
  test('arrives: what was there, then additions, changes and deletions, with managedFields', async () => {
    await put('first');
    const { informer, told } = await inform();
    expect(told).toEqual(['initial first']);
    await put('second');
    await put('second', { colour: 'red' });
    await remove('first');
    await eventuallyTold(told, ['initial first', 'add second', 'update second', 'delete first']);
    expect(informer.lister.list()).toHaveLength(1);
    const second = informer.lister.get(`${namespace}/second`);
    expect(second).toMatchObject({ kind: 'ConfigMap', data: { colour: 'red' } });
    expect(second?.metadata.managedFields?.[0]?.manager).toBe('test');
    expect(proxy.seen.filter(isWatch)).toHaveLength(1);
  });

  test('is found by index', async () => {
    await put('red', {}, { colour: 'red' });
    const { informer } = await inform();
    informer.addIndex('colour', ({ metadata }) => [metadata.labels?.['colour'] ?? 'none']);
    await put('blue', {}, { colour: 'blue' });
    await eventually(() => informer.lister.byIndex('colour', 'blue').length === 1);
    await put('red', {}, { colour: 'blue' });
    await eventually(() => informer.lister.byIndex('colour', 'blue').length === 2);
    expect(informer.lister.byIndex('colour', 'red')).toEqual([]);
  });

  test('is seen through the scope: an object that no longer matches its selector is deleted', async () => {
    const informer = factory.informer(CONFIG_MAP, { namespace, labelSelector: 'colour=red' });
    const told: string[] = [];
    informer.addHandler(noting(told));
    factory.start();
    await factory.waitForSync();
    await put('one', {}, { colour: 'red' });
    await put('other', {}, { colour: 'blue' });
    await put('one', {}, { colour: 'blue' });
    await eventuallyTold(told, ['add one', 'delete one']);
  });

  test('is shared: the same kind and scope is watched once', async () => {
    const { informer } = await inform();
    const same = factory.informer({ ...CONFIG_MAP }, { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' });
    expect(same.lister).toBe(informer.lister);
    const late = factory.informer(CONFIG_MAP, { namespace });
    expect(late.lister).not.toBe(informer.lister);
    await expect(factory.waitForSync()).resolves.toBe(true);
    expect(late.hasSynced()).toBe(true);
    expect(proxy.seen.filter(isWatch)).toHaveLength(2);
  });
});

describe('a server without streamed lists', () => {
  test('is listed in pages and watched', async () => {
    proxy.fault = (request) => (isStreamedList(request) ? { status: 400, body: 'unknown parameter' } : undefined);
    await put('first');
    const { told } = await inform();
    await put('second');
    await eventuallyTold(told, ['initial first', 'add second']);
    expect(proxy.seen.some(({ url }) => url.includes('limit=500'))).toBe(true);
  });
});

describe('a broken connection', () => {
  test('is resumed where it broke: nothing is missed, nothing is listed', async () => {
    const { informer, told } = await inform();
    await put('before');
    await eventuallyTold(told, ['add before']);
    await proxy.stop();
    const old = await put('during');
    await remove('during');
    const recreated = await put('during');
    expect(recreated.metadata.uid).not.toBe(old.metadata.uid);
    await eventually(() => informer.lastError() instanceof UnreachableError);
    await proxy.listen();
    await eventuallyTold(told, ['add before', 'add during', 'delete during', 'add during']);
    expect(proxy.seen.filter(isStreamedList)).toHaveLength(1);
    expect(informer.lastError()).toBeUndefined();
    expect(factory.staleness()).toBeLessThan(10_000);
  });

  test('is resumed at once, whatever the backoff, when another call finds the server back', async () => {
    const { told } = await inform();
    await proxy.stop();
    // The fourth try comes 3.2 s after the third.
    await eventually(() => failures.length >= 3, { interval: 20, message: 'it did not try thrice' });
    await put('during');
    await proxy.listen();
    await client.version();
    await eventually(() => told.includes('add during'), { timeout: 1500, message: 'it was not resumed' });
  });

  test('whose version has expired is listed again; a recreated object is told as deletion and addition', async () => {
    await put('kept');
    await put('recreated');
    await put('gone');
    const { told } = await inform();
    told.length = 0;
    const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    proxy.fault = (request) =>
      isWatch(request) && !isStreamedList(request)
        ? { status: 200, body: `${JSON.stringify({ type: 'ERROR', object: expired })}\n` }
        : undefined;
    await proxy.stop();
    await remove('gone');
    await remove('recreated');
    await put('recreated');
    await put('new');
    await proxy.listen();
    await eventually(() => told.length >= 4, { message: 'it was not listed again' });
    expect(told).toHaveLength(4);
    expect(told).toEqual(expect.arrayContaining(['delete gone', 'add new', 'delete recreated', 'add recreated']));
    expect(told.indexOf('delete recreated')).toBe(told.indexOf('add recreated') - 1);
    expect(failures.map(({ error }) => error)).toContain('ExpiredError');
  });

  test.each([
    ['a line that is no event', '{"type":"ADDED"}\n'],
    [
      'an object of another kind',
      '{"type":"ADDED","object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}}\n',
    ],
    ['a line without end', 'x'.repeat(17 * 1024 * 1024)],
  ])('after %s it is counted and listed again', async (_behaviour, body) => {
    const { informer, told } = await inform();
    let isFirst = true;
    proxy.fault = (request) => {
      if (!isWatch(request) || isStreamedList(request) || !isFirst) return undefined;
      isFirst = false;
      return { status: 200, body };
    };
    proxy.cut();
    await eventually(() => failures.some(({ error }) => error === 'UnexpectedAnswerError'));
    await put('after');
    await eventuallyTold(told, ['add after']);
    expect(informer.lastError()).toBeUndefined();
    expect(proxy.seen.filter(isStreamedList)).toHaveLength(2);
  });
});

describe('a kind that is not served', () => {
  test('is waited for, and found when its CRD appears', async () => {
    const plural = uniqueName('late');
    const kind = `Kind${plural.replaceAll('-', '')}`;
    const gvk = { group: 'atoll-test.example', version: 'v1', kind };
    const informer = factory.informer(gvk, { namespace });
    factory.start();
    await eventually(() => informer.lastError() instanceof KindNotFoundError);
    expect(informer.hasSynced()).toBe(false);
    expect(factory.staleness()).toBeLessThan(10_000);

    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const spec = {
      group: gvk.group,
      scope: 'Namespaced',
      names: { plural, kind, listKind: `${kind}List`, singular: plural },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    };
    const metadata = { name: `${plural}.${gvk.group}` };
    await admin.create(
      { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec },
      asTester,
    );
    await expect(factory.waitForSync()).resolves.toBe(true);
    await admin.apply({ apiVersion: `${gvk.group}/v1`, kind, metadata: { name: 'one', namespace } }, asTester);
    await eventually(() => informer.lister.get(`${namespace}/one`) !== undefined);
    expect(informer.lastError()).toBeUndefined();
  });
});

describe('releasing', () => {
  test('the last reference ends the watch; asking again lists anew', async () => {
    await put('first');
    const { informer } = await inform();
    const other = factory.informer(CONFIG_MAP, { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' });
    informer.release();
    await put('second');
    await eventually(() => other.lister.list().length === 2);
    other.release();
    expect(() => other.lister.list()).toThrow(InformerStoppedError);
    const { informer: again } = await inform();
    expect(again.lister.list()).toHaveLength(2);
    expect(proxy.seen.filter(isStreamedList)).toHaveLength(2);
  });
});

describe('stopping', () => {
  test('ends the watches, also while the server is silent', async () => {
    proxy.fault = () => 'silence';
    factory.informer(CONFIG_MAP, { namespace });
    factory.start();
    await eventually(() => proxy.seen.length > 0);
    const waiting = factory.waitForSync();
    const startedAt = performance.now();
    await factory.stop();
    expect(performance.now() - startedAt).toBeLessThan(1000);
    await expect(waiting).resolves.toBe(false);
  });

  test('waiting ends when whoever waits gives up', async () => {
    proxy.fault = () => 'silence';
    factory.informer(CONFIG_MAP, { namespace });
    factory.start();
    await expect(factory.waitForSync(AbortSignal.abort())).resolves.toBe(false);
  });
});
