import { beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import {
  AlreadyExistsError,
  BadRequestError,
  ConflictError,
  ExpiredError,
  FieldManagerConflictError,
  ForbiddenError,
  InvalidError,
  KindNotFoundError,
  NotFoundError,
  ResourceVersionTooLargeError,
  UnknownFieldError,
  UnsendableError,
} from '../../src/kubernetes/index.ts';
import type { KubernetesClient, WatchEvent, WriteContext } from '../../src/kubernetes/index.ts';
import { redisClusterKind } from '../../src/api/index.ts';
import { installDefinitions } from '../support/definitions.ts';
import { adminClient, asTester, createNamespace, eventually } from '../support/lab.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' };

let client: KubernetesClient;
let namespace: string;

beforeAll(async () => {
  client = adminClient('eu-1');
  namespace = await createNamespace('eu-1');
});

function configMap(name: string, data: Record<string, string> = { colour: 'red' }, metadata = {}): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata }, data };
}

function deployment(name: string, replicas: number): KubernetesObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'none' }] } };
  const spec = { replicas, selector: { matchLabels: labels }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec };
}

const as = (fieldManager: string): WriteContext => ({ ...asTester, fieldManager });
const uidOf = ({ metadata }: KubernetesObject): string => metadata.uid ?? '';

describe('reading', () => {
  test('an absent object is undefined, an absent kind is an error', async () => {
    await expect(client.get({ gvk: CONFIG_MAP, namespace, name: 'absent' })).resolves.toBeUndefined();
    const gvk = { group: 'nobody.example', version: 'v1', kind: 'Nothing' };
    await expect(client.get({ gvk, namespace, name: 'absent' })).rejects.toThrow(KindNotFoundError);
    await expect(client.list({ ...CONFIG_MAP, version: 'v7' })).rejects.toThrow(KindNotFoundError);
  });

  test('a list is read in pages and by selector; its items say what they are', async () => {
    const names = ['page-a', 'page-b', 'page-c'];
    const labels = { list: 'yes' };
    await Promise.all(names.map((name) => client.create(configMap(name, {}, { labels }), asTester)));
    const first = await client.list(CONFIG_MAP, { namespace, labelSelector: 'list=yes', limit: 2 });
    expect(first.items).toHaveLength(2);
    const rest = await client.list(CONFIG_MAP, {
      namespace,
      labelSelector: 'list=yes',
      continue: first.continue ?? '',
    });
    expect([...first.items, ...rest.items].map(({ metadata }) => metadata.name)).toEqual(names);
    expect(rest).not.toHaveProperty('continue');
    expect(rest.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
  });

  test('a version that the server does not know yet is told apart', async () => {
    const options = { resourceVersion: '999999999999', resourceVersionMatch: 'NotOlderThan' } as const;
    await expect(client.list(CONFIG_MAP, options)).rejects.toThrow(ResourceVersionTooLargeError);
  });

  test('how a kind is served is known by discovery', async () => {
    await expect(client.resourceFor(DEPLOYMENT)).resolves.toMatchObject({
      plural: 'deployments',
      namespaced: true,
      verbs: expect.arrayContaining(['patch', 'watch']) as unknown,
      subresources: expect.arrayContaining(['status', 'scale']) as unknown,
    });
    await expect(client.resourceFor({ ...CONFIG_MAP, kind: 'Namespace' })).resolves.toMatchObject({
      namespaced: false,
    });
  });
});

describe('watching', () => {
  test('events come as they happen, and end with the signal', async () => {
    const { resourceVersion } = await client.list(CONFIG_MAP, { namespace });
    const stop = new AbortController();
    const events: WatchEvent[] = [];
    const created = await client.create(configMap('watched'), asTester);
    await client.update({ ...created, data: { colour: 'blue' } }, asTester);
    await client.delete({ gvk: CONFIG_MAP, namespace, name: 'watched' }, { uid: uidOf(created) }, asTester);
    for await (const event of client.watch(CONFIG_MAP, { namespace, resourceVersion, signal: stop.signal })) {
      events.push(event);
      if (events.length === 3) stop.abort();
    }
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    expect(events[1]?.object).toMatchObject({ kind: 'ConfigMap', data: { colour: 'blue' } });
  });

  test('a version that is too old is thrown, though the server answers it with 200', async () => {
    // A young server has the versions of its oldest kinds from the first on; it has none from before a kind was defined.
    await installDefinitions('eu-1', 'member');
    const { signal } = new AbortController();
    const watch = client.watch(redisClusterKind.gvk, { namespace, resourceVersion: '1', signal });
    await expect(watch[Symbol.asyncIterator]().next()).rejects.toThrow(ExpiredError);
  });
});

describe('writing', () => {
  test('create, apply, update and patch give back the object', async () => {
    await client.create(configMap('written'), asTester);
    const applied = await client.apply(configMap('written', { shape: 'round' }), as('other'));
    expect(applied['data']).toEqual({ colour: 'red', shape: 'round' });
    const updated = await client.update({ ...applied, data: { size: 'small' } }, asTester);
    expect(updated['data']).toEqual({ size: 'small' });
    const ref = { gvk: CONFIG_MAP, namespace, name: 'written' };
    const patch = [
      { op: 'test', path: '/metadata/resourceVersion', value: updated.metadata.resourceVersion },
      { op: 'add', path: '/metadata/labels', value: { patched: 'yes' } },
    ] as const;
    const patched = await client.jsonPatch(ref, patch, asTester);
    expect(patched.metadata.labels).toEqual({ patched: 'yes' });
    await expect(client.jsonPatch(ref, patch, asTester)).rejects.toThrow(InvalidError);
  });

  test('status is applied by its subresource, and leaves the spec alone', async () => {
    await client.create(deployment('web', 0), asTester);
    const status = { ...deployment('web', 5), status: { observedGeneration: 7 } };
    const answer = await client.apply(status, as('status'), { subresource: 'status', force: true });
    expect(answer['spec']).toMatchObject({ replicas: 0 });
    expect(answer.metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'status', operation: 'Apply', subresource: 'status' }),
    );
  });

  test('a dry run changes nothing', async () => {
    const object = await client.create(configMap('dry'), asTester, { dryRun: true });
    expect(object.metadata).toHaveProperty('uid');
    await client.apply(configMap('dry'), asTester, { dryRun: true });
    await expect(client.get({ gvk: CONFIG_MAP, namespace, name: 'dry' })).resolves.toBeUndefined();
  });

  test('a name that is taken, and a version that has passed, are different conflicts', async () => {
    const created = await client.create(configMap('taken'), asTester);
    await expect(client.create(configMap('taken'), asTester)).rejects.toThrow(AlreadyExistsError);
    await client.update({ ...created, data: { colour: 'blue' } }, asTester);
    await expect(client.update({ ...created, data: { colour: 'green' } }, asTester)).rejects.toThrow(ConflictError);
  });

  test('a field of another manager is a conflict that names manager, kind of write and path', async () => {
    await client.apply(deployment('contested', 1), as('applier'));
    const refused = client.apply(deployment('contested', 2), as('other'));
    await expect(refused).rejects.toThrow(FieldManagerConflictError);
    await expect(refused).rejects.toMatchObject({
      conflicts: [{ manager: 'applier', operation: 'Apply', path: '.spec.replicas' }],
    });
    await client.apply(deployment('contested', 2), as('other'), { force: true });
    const ref = { gvk: DEPLOYMENT, namespace, name: 'contested' };
    await client.jsonPatch(ref, [{ op: 'replace', path: '/spec/replicas', value: 3 }], as('editor'));
    await expect(client.apply(deployment('contested', 4), as('other'))).rejects.toMatchObject({
      conflicts: [{ manager: 'editor', operation: 'Update', path: '.spec.replicas' }],
    });
  });

  test('validation errors bear the field', async () => {
    await client.create({ ...configMap('frozen'), immutable: true }, asTester);
    const refused = client.apply(configMap('frozen', { colour: 'blue' }), asTester, { force: true });
    await expect(refused).rejects.toThrow(InvalidError);
    await expect(refused).rejects.toMatchObject({ fields: [{ path: 'data', reason: 'FieldValueForbidden' }] });
  });

  test('an unknown field is refused by create and by apply', async () => {
    const object = {
      ...deployment('unknown', 1),
      spec: { ...(deployment('unknown', 1)['spec'] as object), colour: 1 },
    };
    await expect(client.create(object, asTester)).rejects.toThrow(BadRequestError);
    await expect(client.apply(object, asTester)).rejects.toThrow(UnknownFieldError);
  });

  test('a missing namespace is told from a missing object', async () => {
    const object = { ...configMap('lost'), metadata: { name: 'lost', namespace: 'nowhere' } };
    const refused = client.create(object, asTester);
    await expect(refused).rejects.toThrow(NotFoundError);
    await expect(refused).rejects.toMatchObject({ details: { kind: 'namespaces', name: 'nowhere' } });
  });

  test('a subresource answers with its own kind', async () => {
    const account = { gvk: { ...CONFIG_MAP, kind: 'ServiceAccount' }, namespace, name: 'default' };
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
    const answer = await eventually(() => client.createSubresource(account, 'token', body, asTester));
    expect(answer['status']).toMatchObject({ token: expect.stringMatching(/^ey/) as unknown });
  });
});

describe('deleting', () => {
  test('needs the UID of what is meant, and takes absence as success', async () => {
    const created = await client.create(configMap('short-lived'), asTester);
    const ref = { gvk: CONFIG_MAP, namespace, name: 'short-lived' };
    const other = { uid: '00000000-0000-0000-0000-000000000000' };
    await expect(client.delete(ref, other, asTester)).rejects.toThrow(ConflictError);
    const stale = { uid: uidOf(created), resourceVersion: '1' };
    await expect(client.delete(ref, stale, asTester)).rejects.toThrow(ConflictError);
    await client.delete(ref, { uid: uidOf(created) }, asTester);
    await expect(client.get(ref)).resolves.toBeUndefined();
    await client.delete(ref, { uid: uidOf(created) }, asTester);
  });

  test('passes the propagation policy on', async () => {
    const created = await client.create(deployment('foreground', 0), asTester);
    const ref = { gvk: DEPLOYMENT, namespace, name: 'foreground' };
    await client.jsonPatch(ref, [{ op: 'add', path: '/metadata/finalizers', value: ['test.example/hold'] }], asTester);
    await client.delete(ref, { uid: uidOf(created) }, asTester, { propagationPolicy: 'Foreground' });
    const deleting = await client.get(ref);
    expect(deleting?.metadata.deletionTimestamp).toBeDefined();
    expect(deleting?.metadata.finalizers).toContain('test.example/hold');
    const finalizers = [{ op: 'replace', path: '/metadata/finalizers', value: [] }] as const;
    await client.jsonPatch(ref, finalizers, asTester);
    await eventually(async () => (await client.get(ref)) === undefined);
  });
});

test('half a surrogate pair is refused before anything is sent', async () => {
  const object = configMap('halved', { key: 'x\ud83d' });
  await expect(client.apply(object, asTester)).rejects.toThrow(UnsendableError);
  await expect(client.apply(object, asTester)).rejects.toThrow('.data.key');
});

describe('identity', () => {
  test('a write is made as the service account that it names, with that account’s rights', async () => {
    const write: WriteContext = { ...asTester, identity: { kind: 'serviceAccount', namespace, name: 'tenant' } };
    const refused = client.create(configMap('forbidden'), write);
    await expect(refused).rejects.toThrow(ForbiddenError);
    await expect(refused).rejects.toThrow(`system:serviceaccount:${namespace}:tenant`);
    const ref = { gvk: CONFIG_MAP, namespace, name: 'forbidden' };
    await expect(client.get(ref, { identity: write.identity })).rejects.toThrow(ForbiddenError);
  });

  test('an empty identity is refused before anything is sent: a server would take it for the sender’s own', async () => {
    const write: WriteContext = { ...asTester, identity: { kind: 'serviceAccount', namespace, name: '' } };
    await expect(client.create(configMap('as-admin'), write)).rejects.toThrow(UnsendableError);
    await expect(client.get({ gvk: CONFIG_MAP, namespace, name: 'as-admin' })).resolves.toBeUndefined();
  });
});
