import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LeaseLostError } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import {
  ApiError,
  ConflictError,
  FieldManagerConflictError,
  ForbiddenError,
  InvalidError,
  KindNotFoundError,
  NamespaceTerminatingError,
  TooManyRequestsError,
  UnauthorizedError,
  UnexpectedAnswerError,
  UnknownFieldError,
  UnreachableError,
  UnsendableError,
} from '../../src/kubernetes/index.ts';
import type { KubernetesClient } from '../../src/kubernetes/index.ts';
import { CannedServer } from '../support/canned-server.ts';
import type { CannedRequest, Reply } from '../support/canned-server.ts';
import { asWriter, CONFIG_MAP, item } from './following.ts';

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

const ref = { gvk: CONFIG_MAP, namespace: 'ns', name: 'a' };
const object: KubernetesObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'ns' } };

function status(code: number, reason: string | undefined, details: object = {}, message = 'no'): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    message,
    details,
    ...(reason !== undefined && { reason }),
  };
}

/** Everything is answered so. */
function answerWith(code: number, body: unknown, headers?: Record<string, string>): void {
  server.answer = (_request, reply) => reply.send(code, body, headers);
}

/** The first call is answered in one way, all others in another. */
function answerFirst(first: (reply: Reply) => void, then: (reply: Reply) => void): void {
  let isFirst = true;
  server.answer = (_request, reply) => {
    (isFirst ? first : then)(reply);
    isFirst = false;
  };
}

test('Beyond/a 409 is told apart by its causes: a field manager’s conflict cannot be retried, a version’s can', async () => {
  const cause = { reason: 'FieldManagerConflict', message: 'conflict with "fed" using apps/v1', field: '.data.a' };
  answerWith(409, status(409, 'Conflict', { causes: [cause] }));
  const refused = client.apply(object, asWriter);
  await expect(refused).rejects.toThrow(FieldManagerConflictError);
  await expect(refused).rejects.toMatchObject({
    conflicts: [{ manager: 'fed', operation: 'Update', path: '.data.a' }],
  });
  answerWith(409, status(409, 'Conflict'));
  await expect(client.apply(object, asWriter)).rejects.toThrow(ConflictError);
  await expect(client.apply(object, asWriter)).rejects.not.toThrow(FieldManagerConflictError);
});

test('Beyond/a 422 names the fields: with path, reason and message', async () => {
  const cause = { reason: 'FieldValueForbidden', message: 'field is immutable', field: 'data' };
  answerWith(422, status(422, 'Invalid', { causes: [cause] }));
  const refused = client.apply(object, asWriter);
  await expect(refused).rejects.toThrow(InvalidError);
  await expect(refused).rejects.toMatchObject({ fields: [{ path: 'data', reason: 'FieldValueForbidden' }] });
});

test('Beyond/an apply that does not fit the schema is told from a server failure: by the 500 without a reason', async () => {
  answerWith(
    500,
    status(
      500,
      undefined,
      {},
      'failed to create typed patch object (/web; apps/v1): .spec.x: field not declared in schema',
    ),
  );
  await expect(client.apply(object, asWriter)).rejects.toThrow(UnknownFieldError);
  answerWith(500, status(500, 'InternalError', {}, 'etcdserver: no leader'));
  await expect(client.apply(object, asWriter)).rejects.not.toThrow(UnknownFieldError);
});

test('Beyond/a terminating namespace is told from a missing right: both are 403', async () => {
  answerWith(403, status(403, 'Forbidden', { causes: [{ reason: 'NamespaceTerminating' }] }));
  await expect(client.create(object, asWriter)).rejects.toThrow(NamespaceTerminatingError);
  answerWith(403, status(403, 'Forbidden'));
  await expect(client.create(object, asWriter)).rejects.toThrow(ForbiddenError);
  await expect(client.create(object, asWriter)).rejects.not.toThrow(NamespaceTerminatingError);
});

test('Beyond/a plain-text 404 is no absence: neither of the object nor of its kind', async () => {
  answerWith(404, '404 page not found');
  const answer = client.get(ref);
  await expect(answer).rejects.toThrow(UnexpectedAnswerError);
  await expect(answer).rejects.not.toThrow(KindNotFoundError);
  answerWith(404, status(404, 'NotFound', { name: 'a', kind: 'configmaps' }));
  await expect(client.get(ref)).resolves.toBeUndefined();
  answerWith(404, status(404, 'NotFound', { name: 'another', kind: 'configmaps' }));
  await expect(client.get(ref)).rejects.toThrow(ApiError);
});

test('Beyond/a redirect is refused: nothing is sent to where it points', async () => {
  const other = await CannedServer.start();
  answerWith(302, object, { location: `${other.connection.server}/api/v1/namespaces/ns/configmaps/a` });
  await expect(client.get(ref)).rejects.toThrow(UnexpectedAnswerError);
  await expect(client.apply(object, asWriter)).rejects.toThrow(UnexpectedAnswerError);
  expect(other.requests).toEqual([]);
  await other.close();
});

test('Beyond/Retry-After is honoured: a 429 is repeated after that time, and one that asks for long is told', async () => {
  answerFirst(
    (reply) => reply.send(429, status(429, 'TooManyRequests'), { 'retry-after': '1' }),
    (reply) => reply.send(200, object),
  );
  const startedAt = performance.now();
  await expect(client.get(ref)).resolves.toMatchObject({ kind: 'ConfigMap' });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(950);
  expect(server.calls).toHaveLength(2);
  const other = server.client();
  answerWith(429, status(429, 'TooManyRequests'), { 'retry-after': '120' });
  await expect(other.get(ref)).rejects.toThrow(TooManyRequestsError);
  await expect(server.client().get(ref)).rejects.toMatchObject({ retryAfterSeconds: 120 });
});

test('Beyond/a 401 has the token read again, once: and the new one is used', async () => {
  let refreshed = 0;
  const source = {
    connection: { ...server.connection, token: 'old' },
    current: () => source.connection,
    refresh: async () => {
      refreshed += 1;
      source.connection = { ...source.connection, token: 'new' };
      return Promise.resolve();
    },
  };
  server.answer = ({ headers }, reply) =>
    headers.authorization === 'Bearer new' ? reply.send(200, object) : reply.send(401, status(401, 'Unauthorized'));
  await expect(server.client({ connection: source }).get(ref)).resolves.toMatchObject({ kind: 'ConfigMap' });
  expect(refreshed).toBe(1);
  const tokens = server.calls.map(({ headers }) => headers.authorization);
  expect(tokens).toEqual(['Bearer old', 'Bearer new']);
});

test('Beyond/a 401 has the token read again, once: one that stays refused is told', async () => {
  let refreshed = 0;
  const connection = server.connection;
  const refresh = async (): Promise<void> => Promise.resolve(void (refreshed += 1));
  answerWith(401, status(401, 'Unauthorized'));
  const refused = server.client({ connection: { current: () => connection, refresh } }).get(ref);
  await expect(refused).rejects.toThrow(UnauthorizedError);
  expect(refreshed).toBe(1);
  expect(server.calls).toHaveLength(1);
});

test('Beyond/a write is not sent again when its connection breaks: it may have been carried out', async () => {
  server.answer = (_request, reply) => reply.cut();
  await expect(client.apply(object, asWriter)).rejects.toThrow(UnreachableError);
  expect(server.calls).toHaveLength(1);
});

test('Beyond/a read is sent again once when its kept connection was closed: and no more often', async () => {
  answerWith(200, object);
  await client.get(ref);
  answerFirst(
    (reply) => reply.cut(),
    (reply) => reply.send(200, object),
  );
  await expect(client.get(ref)).resolves.toMatchObject({ kind: 'ConfigMap' });
  const before = server.calls.length;
  server.answer = (_request, reply) => reply.cut();
  await expect(client.get(ref)).rejects.toThrow(UnreachableError);
  expect(server.calls.length - before).toBe(2);
});

test('Beyond/an identity is never empty: it is refused before anything is sent', async () => {
  answerWith(200, object);
  for (const [namespace, name] of [
    ['ns', ''],
    ['', 'tenant'],
    ['ns', 'a b'],
  ] as const) {
    const identity = { kind: 'serviceAccount', namespace, name } as const;
    await expect(client.apply(object, { ...asWriter, identity })).rejects.toThrow(UnsendableError);
  }
  expect(server.calls).toEqual([]);
  await client.apply(object, { ...asWriter, identity: { kind: 'serviceAccount', namespace: 'ns', name: 'tenant' } });
  expect(server.calls[0]?.headers['impersonate-user']).toBe('system:serviceaccount:ns:tenant');
});

test('Beyond/the guard is asked right before each sending: repetitions included, and what it forbids is not sent', async () => {
  let asked = 0;
  answerFirst(
    (reply) => reply.send(429, status(429, 'TooManyRequests'), { 'retry-after': '1' }),
    (reply) => reply.send(200, object),
  );
  const guard = (): void => {
    asked += 1;
    if (asked > 1) throw new LeaseLostError('lost meanwhile');
  };
  await expect(client.apply(object, { ...asWriter, guard })).rejects.toThrow(LeaseLostError);
  expect(asked).toBe(2);
  expect(server.calls).toHaveLength(1);
});

test('Beyond/an apply is sent as apply-patch: with its field manager, strictly validated, forced only when asked for', async () => {
  answerWith(200, object);
  await client.apply(object, asWriter);
  await client.apply(object, asWriter, { force: true, dryRun: true });
  const [plain, forced] = server.calls as [CannedRequest, CannedRequest];
  expect(plain.headers['content-type']).toBe('application/apply-patch+yaml');
  expect(plain.method).toBe('PATCH');
  expect(Object.fromEntries(plain.query)).toEqual({ fieldManager: 'test', fieldValidation: 'Strict', timeout: '4s' });
  expect(Object.fromEntries(forced.query)).toMatchObject({ force: 'true', dryRun: 'All' });
});

test('Beyond/a name cannot lead to another path: it is refused before anything is sent', async () => {
  for (const name of ['../secrets/token', '..', 'a/b', 'a%2fb', '']) {
    await expect(client.get({ ...ref, name })).rejects.toThrow(UnsendableError);
  }
  await expect(client.get({ gvk: CONFIG_MAP, name: 'a' })).rejects.toThrow(UnsendableError);
  expect(server.calls).toEqual([]);
});

test('Beyond/an answer may not be larger than an object can be: it is given up', async () => {
  answerWith(200, { ...object, data: { large: 'x'.repeat(17 * 1024 * 1024) } });
  await expect(client.get(ref)).rejects.toThrow(UnexpectedAnswerError);
});

test('Beyond/a delete names the UID: and takes absence for success, another object for a conflict', async () => {
  answerWith(200, status(200, undefined));
  await client.delete(ref, { uid: 'u-1' }, asWriter);
  expect(JSON.parse(server.calls[0]?.body ?? '')).toMatchObject({ preconditions: { uid: 'u-1' } });
  answerWith(404, status(404, 'NotFound', { name: 'a', kind: 'configmaps' }));
  await client.delete(ref, { uid: 'u-1' }, asWriter);
  answerWith(409, status(409, 'Conflict'));
  await expect(client.delete(ref, { uid: 'u-1' }, asWriter)).rejects.toThrow(ConflictError);
});

test('TestIsUnsupportedTableObject: a Table in the place of an object, a list or an event is refused', async () => {
  const table = {
    apiVersion: 'meta.k8s.io/v1',
    kind: 'Table',
    metadata: { resourceVersion: '1', name: 'a' },
    rows: [],
  };
  server.answer = ({ query }, reply) =>
    query.get('watch') === 'true'
      ? reply.send(200, `${JSON.stringify({ type: 'ADDED', object: table })}\n`)
      : reply.send(200, table);
  await expect(client.get(ref)).rejects.toThrow(UnexpectedAnswerError);
  await expect(client.list(CONFIG_MAP)).rejects.toThrow(UnexpectedAnswerError);
  const { signal } = new AbortController();
  const watch = client.watch(CONFIG_MAP, { resourceVersion: '1', signal });
  await expect(watch.next()).rejects.toThrow(UnexpectedAnswerError);
});

test('TestRealFIFO_PopBrokenItemsInBatch: a list with an item that has no name is refused as a whole', async () => {
  for (const broken of [[{ metadata: {} }], [item('a', '1'), { metadata: {} }], [null], [item('a', '1'), 'text']]) {
    answerWith(200, { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion: '5' }, items: broken });
    await expect(client.list(CONFIG_MAP)).rejects.toThrow(UnexpectedAnswerError);
  }
});
