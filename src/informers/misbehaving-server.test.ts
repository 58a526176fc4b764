import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CannedServer } from '../../test/support/canned-server.ts';
import type { CannedRequest, Reply } from '../../test/support/canned-server.ts';
import { eventually } from '../../test/support/eventually.ts';
import { noMetrics, silentLogger, systemClock } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { UnexpectedAnswerError } from '../kubernetes/index.ts';
import { SharedInformerFactory } from './shared-informer-factory.ts';
import type { SharedInformer } from './shared-informer.ts';

// Real sockets, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

let server: CannedServer;
let factory: SharedInformerFactory;
let informer: SharedInformer;

beforeEach(async () => {
  server = await CannedServer.start();
  const common = { clock: systemClock, random: () => 0, logger: silentLogger, metrics: noMetrics };
  factory = new SharedInformerFactory({ client: server.client(), ...common });
  informer = factory.informer(CONFIG_MAP);
});

afterEach(async () => {
  await factory.stop();
  await server.close();
});

/** One line of a watch. */
function line(type: string, metadata: KubernetesObject['metadata']): string {
  return `${JSON.stringify({ type, object: { apiVersion: 'v1', kind: 'ConfigMap', metadata } })}\n`;
}

const endMark = line('BOOKMARK', { resourceVersion: '10', annotations: { 'k8s.io/initial-events-end': 'true' } });

function listOf(metadata: object, items: object[]): object {
  return { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '10', ...metadata }, items };
}

/** Answers streamed lists, other watches, and lists. */
function serve(
  stream: (reply: Reply) => void,
  watch: (reply: Reply) => void,
  list: (reply: Reply, request: CannedRequest) => void,
): void {
  server.answer = (request, reply) => {
    if (request.query.has('sendInitialEvents')) stream(reply);
    else if (request.query.has('watch')) watch(reply);
    else list(reply, request);
  };
}

const refuse = (reply: Reply): void => reply.send(400, 'not here');

test('a server that ends every watch after its first word is asked once a second, not as fast as it answers', async () => {
  let version = 10;
  const say = (text: string) => (reply: Reply) => {
    reply.write(text);
    reply.end();
  };
  serve(
    say(endMark),
    (reply) => say(line('BOOKMARK', { resourceVersion: `${(version += 1)}` }))(reply),
    (reply) => reply.send(200, listOf({ resourceVersion: `${version}` }, [])),
  );
  factory.start();
  await sleep(2500);
  const watches = server.calls.filter(({ query }) => query.has('watch'));
  expect(informer.hasSynced()).toBe(true);
  expect(watches.length).toBeGreaterThanOrEqual(2);
  expect(watches.length).toBeLessThanOrEqual(5);
});

test.each([
  ['the same token for ever', () => 'again'],
  ['a new token for ever', () => `token-${server.calls.length}`],
])('a list that goes on with %s and nothing new is given up', async (_what, token) => {
  const item = { metadata: { name: 'a', namespace: 'ns', uid: 'a', resourceVersion: '1' } };
  serve(refuse, refuse, (reply) => reply.send(200, listOf({ continue: token() }, [item])));
  factory.start();
  await eventually(() => informer.lastError() instanceof UnexpectedAnswerError, { message: 'the list ends' });
  expect(informer.lastError()?.message).toBe('100 pages in a row that bear nothing new');
  expect(informer.hasSynced()).toBe(false);
});

test.each([
  ['a number', 11],
  ['nothing', ''],
  ['null', null],
])('an event whose resourceVersion is %s is malformed: the cache is listed anew', async (_what, resourceVersion) => {
  let streams = 0;
  const metadata = { name: 'a', namespace: 'ns', uid: 'a', resourceVersion };
  serve(
    (reply) => {
      streams += 1;
      reply.write(endMark);
      if (streams === 1) reply.write(line('ADDED', metadata as KubernetesObject['metadata']));
    },
    refuse,
    refuse,
  );
  factory.start();
  await eventually(() => streams === 2 && informer.lastError() === undefined, { message: 'it is listed anew' });
  expect(informer.lister.list()).toEqual([]);
});

test('a version that is none to the server is not held to: the newest state is listed', async () => {
  const metadata = { name: 'a', namespace: 'ns', uid: 'a', resourceVersion: 'rubbish' };
  server.answer = ({ query }, reply) => {
    if (query.get('resourceVersion') === 'rubbish') refuse(reply);
    else if (!query.has('watch')) reply.send(200, listOf({ resourceVersion: '12' }, []));
    else if (query.get('resourceVersion') === '12') reply.write('');
    else {
      reply.write(endMark);
      reply.write(line('ADDED', metadata));
      reply.end();
    }
  };
  factory.start();
  await eventually(() => informer.resourceVersion() === '12', { message: 'the newest state is listed' });
  expect(informer.lister.list()).toEqual([]);
});

test('pages of which a selector left nothing are passed over', async () => {
  const last = { metadata: { name: 'a', namespace: 'ns', uid: 'a', resourceVersion: '1' } };
  serve(
    refuse,
    () => undefined,
    (reply, { query }) => {
      const page = Number(query.get('continue') ?? 0);
      if (page < 90) reply.send(200, listOf({ continue: `${page + 1}` }, []));
      else reply.send(200, listOf({}, [last]));
    },
  );
  factory.start();
  await eventually(() => informer.hasSynced(), { message: 'the list ends' });
  expect(informer.lister.get('ns/a')).toBeDefined();
});
