import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { KubernetesClient } from '../../src/kubernetes/index.ts';
import { CannedServer } from '../support/canned-server.ts';
import { CONFIG_MAP, item } from './following.ts';

// Real sockets, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

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
  await expect(readNames()).resolves.toEqual(['first', 'second']);
});

/** Names of the objects of a watch that the server ends. */
async function readNames(): Promise<unknown[]> {
  const names: unknown[] = [];
  const { signal } = new AbortController();
  for await (const { object } of client.watch(CONFIG_MAP, { resourceVersion: '1', signal })) {
    names.push(object.metadata.name);
  }
  return names;
}

/** Watches that are kept open until they are stopped. */
class Watches {
  readonly failures: unknown[] = [];
  events = 0;
  open = 0;
  readonly #stop = new AbortController();

  constructor(count: number) {
    for (let index = 0; index < count; index += 1) void this.#follow();
  }

  stop(): void {
    this.#stop.abort();
  }

  async #follow(): Promise<void> {
    this.open += 1;
    try {
      for await (const event of client.watch(CONFIG_MAP, { resourceVersion: '1', signal: this.#stop.signal })) {
        this.events += event.type === 'ADDED' ? 1 : 0;
      }
    } catch (error) {
      this.failures.push(error);
    }
    this.open -= 1;
  }
}

const PATIENCE = { timeout: 10_000, interval: 20 };

test('Beyond/no session has more than 80 streams: the next gets a session of its own, and none hangs', async () => {
  server.answer = (_request, reply) => reply.write(lineOf('ADDED', 'a'));
  const watches = new Watches(100);
  await expect.poll(() => watches.events, PATIENCE).toBe(100);
  expect(server.sessions.size).toBe(2);
  watches.stop();
  await expect.poll(() => watches.open, PATIENCE).toBe(0);
});

test('Beyond/GOAWAY moves requests to a new session: watches end as if the server ended them', async () => {
  server.answer = (_request, reply) => reply.write(lineOf('ADDED', 'a'));
  const first = new Watches(2);
  await expect.poll(() => first.events, PATIENCE).toBe(2);
  const [old] = server.sessions;
  old?.goaway();
  await expect.poll(() => first.open, PATIENCE).toBe(0);
  expect(first.failures).toEqual([]);
  const second = new Watches(1);
  await expect.poll(() => second.events, PATIENCE).toBe(1);
  expect([...server.sessions].some((session) => session !== old)).toBe(true);
  second.stop();
});
