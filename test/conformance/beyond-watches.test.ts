import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubernetesClient, WatchEvent } from '../../src/kubernetes/index.ts';
import { CannedServer } from '../support/canned-server.ts';
import { eventually } from '../support/eventually.ts';
import { CONFIG_MAP, item } from './following.ts';

let server: CannedServer;
let client: KubernetesClient;

beforeEach(async () => {
  server = await CannedServer.start();
  client = server.client();
});

afterEach(async () => {
  await server.close();
});

const lineOf = (type: string, name: string): string => `${JSON.stringify({ type, object: item(name, '1') })}\n`;

test('Beyond/a line of a watch may come in pieces: in the middle of a character, too, and several at once', async () => {
  const text = lineOf('ADDED', 'first') + lineOf('ADDED', 'second');
  server.answer = (_request, reply) => {
    reply.write(text.slice(0, 20));
    setTimeout(() => {
      reply.write(`${text.slice(20)}{"type":"ADDED","object":{"unfinished`);
      reply.end();
    }, 20);
  };
  const events: WatchEvent[] = [];
  const { signal } = new AbortController();
  for await (const event of client.watch(CONFIG_MAP, { resourceVersion: '1', signal })) events.push(event);
  expect(events.map(({ object: { metadata } }) => metadata.name)).toEqual(['first', 'second']);
});

/** Opens watches until their first event, and answers how to end them. */
function openWatches(count: number): {
  readonly ended: Promise<unknown>;
  readonly stop: AbortController;
  readonly names: string[];
} {
  const stop = new AbortController();
  const names: string[] = [];
  const ended = Promise.all(
    Array.from({ length: count }, async () => {
      for await (const event of client.watch(CONFIG_MAP, { resourceVersion: '1', signal: stop.signal })) {
        names.push(event.object.metadata.name ?? '');
      }
    }),
  );
  return { ended, stop, names };
}

test('Beyond/no session has more than 80 streams: the next gets a session of its own, and none hangs', async () => {
  server.answer = (_request, reply) => reply.write(lineOf('ADDED', 'a'));
  const { ended, names, stop } = openWatches(100);
  await eventually(() => names.length === 100, { interval: 20, message: 'a watch hangs' });
  expect(server.sessions.size).toBe(2);
  stop.abort();
  await ended;
});

test('Beyond/GOAWAY moves requests to a new session: watches end as if the server ended them', async () => {
  server.answer = (_request, reply) => reply.write(lineOf('ADDED', 'a'));
  const first = openWatches(2);
  await eventually(() => first.names.length === 2, { interval: 20 });
  const [old] = server.sessions;
  old?.goaway();
  await first.ended;
  const second = openWatches(1);
  await eventually(() => second.names.length === 1, { interval: 20 });
  expect([...server.sessions].some((session) => session !== old)).toBe(true);
  second.stop.abort();
  await second.ended;
});
