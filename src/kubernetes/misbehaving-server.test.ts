import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CannedServer } from '../../test/support/canned-server.ts';
import { FaultProxy } from '../../test/support/fault-proxy.ts';
import { noMetrics, silentLogger, systemClock } from '../kernel/index.ts';
import { KindNotFoundError, UnreachableError } from './api-errors.ts';
import { KubernetesClient } from './kubernetes-client.ts';

// Real sockets, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const common = { cluster: 'eu-1', clock: systemClock, random: () => 0, logger: silentLogger, metrics: noMetrics };

let server: CannedServer;

beforeEach(async () => {
  server = await CannedServer.start();
});

afterEach(async () => {
  await server.close();
});

test('discovery that is "not modified" without having been read says nothing about what is served', async () => {
  const proxy = await FaultProxy.start();
  proxy.fault = () => ({ status: 304 });
  const client = new KubernetesClient({ ...common, connection: proxy.connection });
  const failure = await client.list(CONFIG_MAP).catch((error: unknown) => error);
  await client.close();
  await proxy.stop();
  expect(failure).not.toBeInstanceOf(KindNotFoundError);
  expect(failure).toMatchObject({ status: 304 });
});

test('a client that was closed opens no connection again, for a watch neither', async () => {
  server.answer = (_request, reply) =>
    reply.send(200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items: [] });
  const client = server.client();
  await client.list(CONFIG_MAP);
  await client.close();
  const { signal } = new AbortController();
  await expect(client.watch(CONFIG_MAP, { signal }).next()).rejects.toThrow(UnreachableError);
  await expect(client.list(CONFIG_MAP)).rejects.toThrow(UnreachableError);
  expect(server.sessions.size).toBe(0);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('the words of the source');
    },
  ],
  ['rejects', () => Promise.reject(new Error('the words of the source'))],
])('where the token comes from %s: the call fails as one that nobody answered, in our words', async (_how, token) => {
  const client = server.client({ connection: { ...server.connection, token } });
  const failure = await client.version().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UnreachableError);
  expect(failure).toMatchObject({ code: 'NO_CREDENTIALS', message: 'the credentials could not be read' });
  expect(server.requests).toEqual([]);
});
