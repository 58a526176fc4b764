import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { applyObject, removeObject } from '../../src/apply/index.ts';
import { requeueAfter } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { ForbiddenError, NotFoundError, referenceOf, writeAs } from '../../src/kubernetes/index.ts';
import type { KubernetesClient, WriteContext } from '../../src/kubernetes/index.ts';
import { openAdmin } from '../support/admin-client.ts';
import { installDefinitions } from '../support/definitions.ts';
import { FencedMember, configMap } from '../support/fenced-member.ts';
import { asTester, eventually, uniqueName } from '../support/lab.ts';
import { MemberRegistry } from '../support/member-registry.ts';

const WELL = requeueAfter(20_000);
const UNWELL = requeueAfter(5000);
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1' };
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const REDIS = { apiVersion: 'workloads.atoll.dev/v1', kind: 'RedisCluster' };
const ATOLL = writeAs('atoll', { guard: () => undefined });

let member: FencedMember;
/** A replica, in its tenure of epoch 5. */
let former: MemberRegistry;
/** Namespace of the member in which a tenant lets Atoll act as its account. */
let shop: string;

beforeAll(async () => {
  [member] = await Promise.all([FencedMember.start(), installDefinitions('hub', 'hub')]);
});

afterAll(() => member.stop());

beforeEach(async () => {
  former = await MemberRegistry.start();
  former.secret = `member-${former.name}`;
  former.epoch = 5;
  shop = uniqueName('shop');
  await member.admitTenant(shop, former.namespace);
});

afterEach(() => former.stop());

/** Of the replica that is engaged, as it uses it. */
function clientOfReplica(replica: MemberRegistry): KubernetesClient {
  const cluster = replica.registry.engaged(replica.name);
  if (cluster === undefined) throw new Error('the replica is not engaged');
  return cluster.client;
}

async function epoch(): Promise<unknown> {
  const fence = await member.cluster.admin.get({ gvk: CONFIG_MAP, namespace: former.namespace, name: 'atoll-fence' });
  return fence?.['data'];
}

/** Whether a write that a fence may refuse is let through. */
async function isAccepted(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ForbiddenError) return false;
    throw error;
  }
}

/** What of a fence there is. */
async function parts(): Promise<string[]> {
  const { namespace } = former;
  const outside = `atoll-fence-${namespace}`;
  const all = [
    { gvk: { ...ADMISSION, kind: 'ValidatingAdmissionPolicy' }, name: outside },
    { gvk: { ...ADMISSION, kind: 'ValidatingAdmissionPolicyBinding' }, name: outside },
    { gvk: { ...RBAC, kind: 'ClusterRole' }, name: outside },
    { gvk: { ...RBAC, kind: 'ClusterRoleBinding' }, name: outside },
    { gvk: { ...RBAC, kind: 'Role' }, namespace, name: 'atoll-fence' },
    { gvk: { ...RBAC, kind: 'RoleBinding' }, namespace, name: 'atoll-fence' },
    { gvk: CONFIG_MAP, namespace, name: 'atoll-fence' },
  ];
  const found = await Promise.all(all.map((reference) => member.cluster.admin.get(reference)));
  return found.flatMap((object) => (object === undefined ? [] : [object.kind]));
}

/** Writes of a former owner by the object that they are about, each as Atoll sends it. */
function lateWrites(
  client: KubernetesClient,
  live: ReadonlyMap<string, KubernetesObject>,
): Readonly<Record<string, () => Promise<unknown>>> {
  const asTenant: WriteContext = { ...ATOLL, identity: { kind: 'serviceAccount', namespace: shop, name: 'deployer' } };
  const uidOf = (name: string): string => live.get(name)?.metadata.uid ?? '';
  const later = configMap(shop, 'changed', 'by the former owner');
  const common = { client, adoption: 'Adopt', write: ATOLL } as const;
  const status = { observedGeneration: 1, phase: 'Running' };
  const remove = (name: string): Promise<unknown> =>
    removeObject({ client, ref: referenceOf(configMap(shop, name)), live: live.get(name), write: ATOLL });
  return {
    created: () => applyObject({ ...common, desired: configMap(shop, 'created'), live: undefined }),
    'changed-first': () =>
      applyObject({
        ...common,
        desired: configMap(shop, 'changed-first', 'by the former owner'),
        live: live.get('changed-first'),
      }),
    changed: () => client.apply({ ...later, metadata: { ...later.metadata, uid: uidOf('changed') } }, ATOLL),
    same: () => client.apply(configMap(shop, 'same'), ATOLL),
    deleted: () => remove('deleted'),
    'deleted-though-changed': () => remove('deleted-though-changed'),
    sessions: () =>
      client.apply({ ...REDIS, metadata: { name: 'sessions', namespace: shop }, status }, ATOLL, {
        subresource: 'status',
      }),
    'by-tenant': () => client.apply(configMap(shop, 'by-tenant'), asTenant),
  };
}

async function prepareObjects(client: KubernetesClient): Promise<ReadonlyMap<string, KubernetesObject>> {
  const names = ['changed-first', 'changed', 'same', 'deleted', 'deleted-though-changed'];
  const sessions = { ...REDIS, metadata: { name: 'sessions', namespace: shop }, spec: { replicas: 1 } };
  const desired = [...names.map((name) => configMap(shop, name)), sessions];
  const live = await Promise.all(desired.map((object) => client.apply(object, ATOLL)));
  return new Map(live.map((object) => [object.metadata.name ?? '', object]));
}

/**
 * A replica of epoch 5 passes its guard and sends; the network delivers that only when another replica has taken over, and has
 * written. @returns the answers of the API server to what came late, by object
 */
async function playTakeover(): Promise<Record<string, number | undefined>> {
  expect(await former.look()).toEqual(WELL);
  const client = clientOfReplica(former);
  const writes = lateWrites(client, await prepareObjects(client));
  const { promise: delivery, resolve: deliver } = Promise.withResolvers<void>();
  const { proxy } = member;
  proxy.held.length = 0;
  proxy.fault = ({ method }) => (method === 'GET' ? undefined : { until: delivery });
  const sent = Promise.allSettled(Object.values(writes).map((write) => write()));
  await eventually(() => proxy.held.length === Object.keys(writes).length, { message: 'not every write was sent' });
  proxy.fault = () => undefined;

  const successor = await former.successor();
  expect(await successor.look()).toEqual(WELL);
  for (const name of ['changed-first', 'changed', 'deleted-though-changed'])
    await clientOfReplica(successor).apply(configMap(shop, name, 'by the successor'), ATOLL);
  expect((await sent).map(({ status }) => status)).toEqual(Object.keys(writes).map(() => 'rejected'));
  const before = (await member.answered(shop)).length;
  deliver();
  const late = await eventually(async () => {
    const events = (await member.answered(shop)).slice(before);
    return events.length >= Object.keys(writes).length && events;
  });
  await successor.registry.disengage(successor.name);
  return Object.fromEntries(late.map(({ objectRef, responseStatus }) => [objectRef?.name, responseStatus?.code]));
}

describe('what a former owner sent, and what arrives when another replica has taken over,', () => {
  it('is refused by the fence, whatever it is', async () => {
    await member.join(former, true);
    expect(await playTakeover()).toEqual({
      created: 403,
      'changed-first': 409,
      changed: 403,
      same: 403,
      deleted: 403,
      'deleted-though-changed': 409,
      sessions: 403,
      'by-tenant': 403,
    });
    expect(await epoch()).toEqual({ epoch: '6' });
  });

  it('is accepted without a fence where no precondition fails, as docs/how-it-works.md says', async () => {
    await member.join(former);
    expect(await playTakeover()).toEqual({
      created: 201,
      'changed-first': 409,
      changed: 200,
      same: 200,
      deleted: 200,
      'deleted-though-changed': 409,
      sessions: 200,
      'by-tenant': 201,
    });
    expect(await epoch()).toBeUndefined();
  });
});

describe('a fence', () => {
  it('refuses Atoll’s account when it bears no epoch, and leaves everybody else alone', async () => {
    await member.join(former, true);
    await expect(member.writeUnstamped(former.name, former.namespace)).rejects.toThrow(ForbiddenError);
    await member.cluster.admin.create(configMap(shop, 'by-administrator'), asTester);
    const tenant = { ...asTester, identity: { kind: 'serviceAccount', namespace: shop, name: 'deployer' } } as const;
    await member.cluster.admin.create(configMap(shop, 'by-tenant-itself'), tenant);
  });

  it('lets its owner write, as itself and as a tenant, subresources included', async () => {
    await member.join(former, true);
    expect(await former.look()).toEqual(WELL);
    const client = clientOfReplica(former);
    const writes = lateWrites(client, await prepareObjects(client));
    await Promise.all(Object.values(writes).map((write) => write()));
    const { impersonatedUser } = (await member.answered(shop)).at(-1) ?? {};
    expect(impersonatedUser?.extra).toEqual({ [`${former.namespace}.atoll.dev/epoch`]: ['5'] });
  });

  it('refuses the way into a pod to a former owner, too', async () => {
    await member.join(former, true);
    expect(await former.look()).toEqual(WELL);
    const admin = openAdmin(member.cluster.description);
    const exec = (bearing: string): Promise<unknown> => {
      const extra = { [`${former.namespace}.atoll.dev/epoch`]: bearing };
      admin.stampWrites({ account: { namespace: shop, name: 'deployer' }, extra });
      return admin.pods.exec({ namespace: shop, name: 'none' }, { container: 'any', command: ['true'] }, asTester);
    };
    await expect(exec('4')).rejects.toThrow(/older one than the fence/);
    await expect(exec('5')).rejects.toThrow(NotFoundError);
    await admin.close();
  });

  it('tells a replica that finds a later epoch that its time is over: it lets go, and says why', async () => {
    await member.join(former, true);
    expect(await former.look()).toEqual(WELL);
    const successor = await former.successor();
    expect(await successor.look()).toEqual(WELL);
    former.pass(60_000);
    expect(await former.look()).toEqual(UNWELL);
    expect(former.registry.engaged(former.name)).toBeUndefined();
    expect(await former.conditions()).toMatchObject({ Ready: 'False/FencedOff', Authorized: 'True/Authorized' });
    expect(await former.message()).toMatch(/fenced at epoch 6/);
    await successor.registry.disengage(successor.name);
  });

  it('keeps its epoch when the member is joined again, with and without a word of it', async () => {
    await member.join(former, true);
    expect(await former.look()).toEqual(WELL);
    const whole = await parts();
    expect(whole).toHaveLength(7);
    await member.join(former);
    await member.join(former, true);
    expect(await parts()).toEqual(whole);
    expect(await epoch()).toEqual({ epoch: '5' });
  });

  it('that is put up while a replica works is followed at its next look', async () => {
    await member.join(former);
    expect(await former.look()).toEqual(WELL);
    const client = clientOfReplica(former);
    await member.join(former, true);
    await expect(client.apply(configMap(shop, 'any'), ATOLL)).rejects.toThrow(/bears no epoch/);
    expect(await former.look()).toEqual(WELL);
    expect(clientOfReplica(former)).toBe(client);
    await client.apply(configMap(shop, 'any'), ATOLL);
    expect(await epoch()).toEqual({ epoch: '5' });
  });

  it('that is taken away leaves nothing, and a replica that works goes on', async () => {
    await member.join(former, true);
    expect(await former.look()).toEqual(WELL);
    const client = clientOfReplica(former);
    await member.join(former, false);
    expect(await parts()).toEqual([]);
    expect(await former.look()).toEqual(WELL);
    // An API server goes by a policy for up to a second after it was deleted.
    await eventually(() => isAccepted(() => client.apply(configMap(shop, 'any'), ATOLL)));
  });

  it('whose epoch was deleted stands open and locks nobody out, until the member is joined with it again', async () => {
    await member.join(former, true);
    expect(await former.look()).toEqual(WELL);
    const reference = { gvk: CONFIG_MAP, namespace: former.namespace, name: 'atoll-fence' };
    const { uid = '' } = (await member.cluster.admin.get(reference))?.metadata ?? {};
    await member.cluster.admin.delete(reference, { uid }, asTester);
    await eventually(() => isAccepted(() => member.writeUnstamped(former.name, former.namespace)));
    await member.cluster.admin.create(configMap(shop, 'by-administrator'), asTester);
    expect(await former.look()).toEqual(WELL);
    await clientOfReplica(former).apply(configMap(shop, 'any'), ATOLL);
    await member.join(former, true);
    expect(await former.look()).toEqual(WELL);
    expect(await epoch()).toEqual({ epoch: '5' });
    await clientOfReplica(former).apply(configMap(shop, 'any', 'changed'), ATOLL);
  });
});
