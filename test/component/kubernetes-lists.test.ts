import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { KindNotFoundError, KubernetesClient, UnexpectedAnswerError } from '../../src/kubernetes/index.ts';
import type { ListOptions, WatchEvent, WatchOptions } from '../../src/kubernetes/index.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { adminClient, asTester, createNamespace } from '../support/lab.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const COUNT = 40;

let client: KubernetesClient;
let namespace: string;

/** Text of all kinds of characters, so that chunks cut some of them. */
const TEXT = 'äöü – "quoted" \\ [}{] 😀 \u2028 '.repeat(50);

beforeAll(async () => {
  client = adminClient('eu-1');
  namespace = await createNamespace('eu-1');
  const names = Array.from({ length: COUNT }, (_, index) => `item-${String(index).padStart(2, '0')}`);
  await Promise.all(
    names.map((name) =>
      client.create(
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: { list: 'yes' } }, data: { TEXT } },
        asTester,
      ),
    ),
  );
});

const listed: ListOptions = { labelSelector: 'list=yes' };
const nameOf = ({ metadata }: KubernetesObject): string => metadata.name ?? '';

async function all(options: ListOptions): Promise<KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  let token = '';
  do {
    const page = await client.list(CONFIG_MAP, { ...listed, namespace, ...options, continue: token });
    objects.push(...page.items);
    token = page.continue ?? '';
  } while (token !== '');
  return objects;
}

async function watched(count: number, options: Partial<WatchOptions>): Promise<WatchEvent[]> {
  const stop = new AbortController();
  const events: WatchEvent[] = [];
  const start = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true } as const;
  for await (const event of client.watch(CONFIG_MAP, { ...start, namespace, ...options, signal: stop.signal })) {
    events.push(event);
    if (events.length === count) stop.abort();
  }
  return events;
}

describe('a list', () => {
  test('in pages of any size, and a streamed one, are what single reads are', async () => {
    const whole = await all({});
    expect(whole.map(nameOf).toSorted()).toEqual(
      Array.from({ length: COUNT }, (_, index) => `item-${String(index).padStart(2, '0')}`),
    );
    for (const object of whole.slice(0, 5)) {
      expect(object).toEqual(await client.get({ gvk: CONFIG_MAP, namespace, name: nameOf(object) }));
      expect(object['data']).toEqual({ TEXT });
    }
    for (const limit of [1, 7, COUNT, COUNT + 1]) expect(await all({ limit })).toEqual(whole);
    const events = await watched(COUNT, { labelSelector: 'list=yes' });
    expect(events.map(({ object }) => object).toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))).toEqual(whole);
  });

  test('of nothing has no items', async () => {
    expect(await client.list(CONFIG_MAP, { namespace, labelSelector: 'list=no' })).toMatchObject({ items: [] });
  });
});

describe('metadata only', () => {
  const expectMetadata = (object: KubernetesObject | undefined): void => {
    expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { labels: { list: 'yes' } } });
    expect(Object.keys(object ?? {})).toEqual(['apiVersion', 'kind', 'metadata']);
  };

  test('are listed, watched and read as of the kind that was asked for', async () => {
    const objects = await all({ metadataOnly: true });
    expect(objects).toHaveLength(COUNT);
    for (const object of objects) expectMetadata(object);
    expectMetadata(await client.get({ gvk: CONFIG_MAP, namespace, name: 'item-00' }, { metadataOnly: true }));
    const events = await watched(COUNT + 1, { labelSelector: 'list=yes', metadataOnly: true });
    for (const { object } of events.slice(0, COUNT)) expectMetadata(object);
    const bookmark = expect.objectContaining({ annotations: { 'k8s.io/initial-events-end': 'true' } }) as unknown;
    expect(events.at(-1)).toMatchObject({ type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata: bookmark } });
  });

  test('of an object that is deleted are told by a watch', async () => {
    const doomed = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'doomed', namespace }, data: { a: 'b' } };
    const { resourceVersion } = await client.list(CONFIG_MAP, { namespace });
    const { metadata } = await client.create(doomed, asTester);
    await client.delete({ gvk: CONFIG_MAP, namespace, name: 'doomed' }, { uid: metadata.uid ?? '' }, asTester);
    const stop = new AbortController();
    const events = client.watch(CONFIG_MAP, { namespace, resourceVersion, metadataOnly: true, signal: stop.signal });
    for await (const { type, object } of events) {
      expect(Object.keys(object)).toEqual(['apiVersion', 'kind', 'metadata']);
      if (type === 'DELETED') stop.abort();
    }
    expect(stop.signal.aborted).toBe(true);
  });
});

test('a transform is what lists, watches and reads are told through', async () => {
  const transform = ({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject => {
    const { name = '', resourceVersion = '' } = metadata;
    return { apiVersion, kind, metadata: { name: `${name}!`, resourceVersion } };
  };
  const names = Array.from({ length: COUNT }, (_, index) => `item-${String(index).padStart(2, '0')}!`);
  expect((await all({ transform, limit: 15 })).map(nameOf)).toEqual(names);
  const events = await watched(COUNT + 1, { labelSelector: 'list=yes', transform });
  expect(
    events
      .slice(0, COUNT)
      .map(({ object }) => nameOf(object))
      .toSorted(),
  ).toEqual(names);
  expect(events.at(-1)?.object.metadata.annotations).toBeDefined();
  expect(await client.get({ gvk: CONFIG_MAP, namespace, name: 'item-00' }, { transform })).toMatchObject({
    metadata: { name: 'item-00!' },
  });
});

describe('behind a server that', () => {
  let proxy: FaultProxy;
  let proxied: KubernetesClient;

  beforeEach(async () => {
    proxy = await FaultProxy.start();
    proxied = new KubernetesClient({
      cluster: 'eu-1',
      connection: proxy.connection,
      clock: systemClock,
      random: () => 0,
      logger: silentLogger,
      metrics: noMetrics,
      maxObjectBytes: 10_000,
      maxListBytes: 100_000,
    });
  });

  afterEach(async () => {
    await proxied.close();
    await proxy.stop();
  });

  function answerWith(body: string, plural = 'configmaps'): void {
    const resource = { resource: plural, responseKind: { kind: 'ConfigMap' }, scope: 'Namespaced' };
    const versions = [{ version: 'v1', freshness: 'Current', resources: [resource] }];
    const discovery = JSON.stringify({ kind: 'APIGroupDiscoveryList', items: [{ metadata: {}, versions }] });
    proxy.fault = ({ url }) => ({ status: 200, body: url.startsWith('/api/v1') ? body : discovery });
  }

  const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '1' } };
  const item = { metadata: { name: 'a' } };
  const text = JSON.stringify({ ...list, items: [item, item] });

  test('does not know of metadata only, they are cut out here', async () => {
    answerWith(JSON.stringify({ ...list, items: [{ ...item, data: { key: 'value' } }] }));
    const { items } = await proxied.list(CONFIG_MAP, { metadataOnly: true });
    expect(items).toEqual([{ apiVersion: 'v1', kind: 'ConfigMap', ...item }]);
    expect(proxy.seen.at(-1)?.headers.accept).toBe(
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    );
  });

  test.each([
    ['ends in the middle of a list', text.slice(0, -30)],
    ['answers with another list', text.replace('ConfigMapList', 'SecretList')],
    ['answers with nothing', ''],
    ['answers with a page for people', '<html></html>'],
    ['sends an item over the limit', JSON.stringify({ ...list, items: [{ ...item, data: 'x'.repeat(10_000) }] })],
    ['never stops sending items', JSON.stringify({ ...list, items: Array.from({ length: 10_000 }, () => item) })],
  ])('%s, nothing is answered', async (_behaviour, body) => {
    answerWith(body);
    await expect(proxied.list(CONFIG_MAP)).rejects.toThrow(UnexpectedAnswerError);
  });

  test.each(['../secrets', 'config maps', 'a?b', 'a\nb', ''])(
    'calls a kind %j, that kind is not asked for',
    async (plural) => {
      answerWith(text, plural);
      await expect(proxied.list(CONFIG_MAP)).rejects.toThrow(KindNotFoundError);
      expect(proxy.seen.map(({ url }) => url)).toEqual(['/api', '/apis']);
    },
  );
});
