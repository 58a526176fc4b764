import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import type { SharedInformer } from '../../src/informers/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { CannedServer } from '../support/canned-server.ts';
import type { Reply } from '../support/canned-server.ts';
import { eventually } from '../support/eventually.ts';
import { CONFIG_MAP, item, noting } from './following.ts';

// Real sockets, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let server: CannedServer;
let factory: SharedInformerFactory;
let informer: SharedInformer;
let transformed: string[];
let told: string[];

/** Notes what it is called for, and leaves nothing but a mark of the annotations. */
function transform(object: KubernetesObject): KubernetesObject {
  const { name, resourceVersion } = object.metadata;
  transformed.push(`${name}@${resourceVersion}`);
  return { ...object, metadata: { ...object.metadata, annotations: { seen: 'yes' } } };
}

beforeEach(async () => {
  server = await CannedServer.start();
  transformed = [];
  told = [];
  const common = { clock: systemClock, random: () => 0.5, logger: silentLogger, metrics: noMetrics };
  factory = new SharedInformerFactory({ ...common, client: server.client(), transform });
  informer = factory.informer(CONFIG_MAP);
  informer.addHandler(noting(told));
});

afterEach(async () => {
  await factory.stop();
  await server.close();
});

const raw = (name: string, version: string): KubernetesObject =>
  item(name, version, { annotations: { large: 'x'.repeat(1000) } });
const line = (type: string, object: KubernetesObject): string => `${JSON.stringify({ type, object })}\n`;
const endMark = line('BOOKMARK', {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { resourceVersion: '5', annotations: { 'k8s.io/initial-events-end': 'true' } },
});

/** Answers the streamed list with this text, and hands out its reply to go on with. */
function streams(text: string): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  server.answer = ({ query }, reply) => {
    if (query.get('sendInitialEvents') !== 'true') return;
    reply.write(text);
    resolve(reply);
  };
  factory.start();
  return promise;
}

/** Refuses streamed lists; the list has these items, and its watch these events. */
function lists(items: readonly KubernetesObject[], events: string): void {
  server.answer = ({ query }, reply) => {
    if (query.get('sendInitialEvents') === 'true') reply.send(422, { kind: 'Status', code: 422, reason: 'Invalid' });
    else if (query.get('watch') === 'true') reply.write(events);
    else reply.send(200, { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion: '5' }, items });
  };
  factory.start();
}

const annotationsIn = (name: string): unknown => informer.lister.get(name)?.metadata.annotations;

test('TestTransformingInformer: what the transform answers is stored and told, of lists and of events', async () => {
  lists([raw('a', '1')], line('ADDED', raw('b', '6')) + line('MODIFIED', raw('a', '7')));
  await eventually(() => told.length === 3, { interval: 10 });
  expect(told).toEqual(['initial a@1', 'add b@6', 'update a@1 a@7']);
  expect([annotationsIn('a'), annotationsIn('b')]).toEqual([{ seen: 'yes' }, { seen: 'yes' }]);
});

test('TestRealFIFO_transformer: each object passes once, bookmarks and resyncs do not', async () => {
  const reply = await streams(line('ADDED', raw('a', '1')) + endMark);
  const bookmark = line('BOOKMARK', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: '6' } });
  reply.write(bookmark + line('MODIFIED', raw('a', '7')));
  await eventually(() => told.length === 2, { interval: 10 });
  expect(transformed).toEqual(['a@1', 'a@7']);
});

test('TestCacheWithTransformer: the last state of a deleted object is what the transform made of it', async () => {
  const last: unknown[] = [];
  informer.addHandler({ onDelete: ({ metadata }) => void last.push(metadata.annotations) });
  const reply = await streams(line('ADDED', raw('a', '1')) + endMark);
  reply.write(line('DELETED', raw('a', '8')));
  await eventually(() => last.length === 1, { interval: 10 });
  expect(last).toEqual([{ seen: 'yes' }]);
  expect(informer.lister.list()).toEqual([]);
});

test('TestSharedInformerTransformer: all handlers are told the transformed object, which is one and the same', async () => {
  const seen: KubernetesObject[] = [];
  for (let handler = 0; handler < 2; handler += 1) informer.addHandler({ onAdd: (object) => void seen.push(object) });
  await streams(line('ADDED', raw('a', '1')) + endMark);
  await eventually(() => seen.length === 2, { interval: 10 });
  expect(seen[0]).toBe(seen[1]);
  expect(seen[0]?.metadata.annotations).toEqual({ seen: 'yes' });
  expect(transformed).toEqual(['a@1']);
});

test('TestReflectorRespectStoreTransformer: a streamed list is transformed as it comes', async () => {
  await streams(line('ADDED', raw('a', '1')) + line('ADDED', raw('b', '2')) + endMark);
  await eventually(() => told.length === 2, { interval: 10 });
  expect(transformed).toEqual(['a@1', 'b@2']);
  expect(annotationsIn('b')).toEqual({ seen: 'yes' });
});
