import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { joinCluster } from '../../src/clusters/index.ts';
import type { JoinRequest } from '../../src/clusters/index.ts';
import { mergeRules } from '../../src/kernel/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../../src/kernel/index.ts';
import { ForbiddenError, UnauthorizedError, parseKubeconfig } from '../../src/kubernetes/index.ts';
import type { Connection, KubernetesClient } from '../../src/kubernetes/index.ts';
import { memberRules, memberTenantRules } from '../../src/roles.ts';
import { installDefinitions } from '../support/definitions.ts';
import { adminClient, asTester, labCluster, uniqueName } from '../support/lab.ts';
import { recordingClient } from '../support/recording-client.ts';

const MEMBER = 'ap-1';
/** As `atoll join` has it: what is made in the member is the same for everybody who joins it, and stays. */
const SYSTEM = 'atoll-system';
const SECRET = { group: '', version: 'v1', kind: 'Secret' };
const NAMESPACE = { group: '', version: 'v1', kind: 'Namespace' };
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const REDIS = { group: 'workloads.atoll.dev', version: 'v1', kind: 'RedisCluster' };
const ROLE = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole' };
const BINDING = { ...ROLE, kind: 'ClusterRoleBinding' };
const MEMBER_CLUSTER = { group: 'federation.atoll.dev', version: 'v1', kind: 'MemberCluster' };

let name: string;
let lines: string[];

beforeAll(async () => {
  await Promise.all([installDefinitions('hub', 'hub'), installDefinitions(MEMBER, 'member')]);
  await createIfMissing({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM } });
});

beforeEach(() => {
  name = uniqueName('member');
  lines = [];
});

afterEach(async () => {
  await remove(MEMBER_CLUSTER, name);
  await remove(SECRET, `member-${name}`, SYSTEM);
});

function join(labels: Readonly<Record<string, string>> = {}, member = adminClient(MEMBER)): Promise<void> {
  return joinCluster(requestOf(labels, member));
}

function requestOf(labels: Readonly<Record<string, string>> = {}, member = adminClient(MEMBER)): JoinRequest {
  return {
    hub: adminClient('hub'),
    member,
    connection: parseKubeconfig(labCluster(MEMBER).kubeconfig),
    name,
    labels,
    namespace: SYSTEM,
    rules: mergeRules(memberRules),
    tenantRules: mergeRules(memberTenantRules),
    progress: (line) => lines.push(line),
  };
}

/** The kubeconfig that was left on the hub. */
async function leftConnection(): Promise<Connection> {
  const data = (await onHub(SECRET, `member-${name}`, SYSTEM))['data'] as { kubeconfig: string };
  return parseKubeconfig(Buffer.from(data.kubeconfig, 'base64').toString('utf8'));
}

describe('joining a cluster', () => {
  it('leaves a MemberCluster with its labels, which names the Secret with the kubeconfig', async () => {
    await join({ region: 'ap', tier: 'prod' });
    expect(await onHub(MEMBER_CLUSTER, name)).toMatchObject({
      metadata: { labels: { region: 'ap', tier: 'prod' } },
      spec: { connection: { kubeconfigSecretRef: { name: `member-${name}`, key: 'kubeconfig' } } },
    });
    expect(lines.at(-1)).toBe(`hub: MemberCluster ${name}`);
  });

  it('grants the service account exactly the declared rules, and nobody else anything', async () => {
    await join();
    expect((await inMember(ROLE, 'atoll-member'))['rules']).toEqual(mergeRules(memberRules));
    expect((await inMember(BINDING, 'atoll-member'))['subjects']).toEqual([
      { kind: 'ServiceAccount', name: 'atoll', namespace: SYSTEM },
    ]);
    expect((await inMember(ROLE, 'atoll-tenant'))['rules']).toEqual(mergeRules(memberTenantRules));
    expect(await adminClient(MEMBER).get({ gvk: BINDING, name: 'atoll-tenant' })).toBeUndefined();
  });

  it('gives a kubeconfig with which everything works that Atoll does, and nothing more', async () => {
    await join();
    const client = recordingClient(MEMBER, await leftConnection());
    const namespace = uniqueName('test');
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, asTester);
    const metadata = { name: 'sessions', namespace };
    const object = { apiVersion: 'workloads.atoll.dev/v1', kind: 'RedisCluster', metadata, spec: { replicas: 1 } };
    const { uid = '' } = (await client.apply(object, asTester)).metadata;
    await client.list(REDIS);
    await client.list(CONFIG_MAP);
    await client.delete({ gvk: REDIS, ...metadata }, { uid }, asTester);
    expect(await client.get({ gvk: NAMESPACE, name: 'kube-system' })).toBeDefined();

    const system = { gvk: NAMESPACE, name: namespace };
    const forbidden: readonly (() => Promise<unknown>)[] = [
      () => client.list(SECRET),
      () => client.get({ gvk: SECRET, namespace, name: 'any' }),
      () => client.list(NAMESPACE),
      () => client.delete(system, { uid: 'any' }, asTester),
      () => client.list({ group: '', version: 'v1', kind: 'Node' }),
      () =>
        client.apply(
          { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'atoll-member' } },
          asTester,
        ),
      () => client.create(podIn(namespace), asTester),
      () =>
        client.get(
          { gvk: CONFIG_MAP, namespace, name: 'any' },
          { identity: { kind: 'serviceAccount', namespace, name: 'default' } },
        ),
    ];
    for (const attempt of forbidden) await expect(attempt()).rejects.toThrow(ForbiddenError);
    await client.close();
    await adminClient(MEMBER).delete(
      system,
      { uid: (await inMember(NAMESPACE, namespace)).metadata.uid ?? '' },
      asTester,
    );
  });

  it('gives a token that lasts 30 days', async () => {
    await join();
    const { token } = await leftConnection();
    const claims = JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString('utf8')) as {
      iat: number;
      exp: number;
    };
    expect(claims.exp - claims.iat).toBe(30 * 24 * 3600);
  });

  it('again renews the token, and changes nothing else', async () => {
    await join({ region: 'ap' });
    const [member, role, secret] = await Promise.all([
      onHub(MEMBER_CLUSTER, name),
      inMember(ROLE, 'atoll-member'),
      onHub(SECRET, `member-${name}`, SYSTEM),
    ]);
    await join({ region: 'ap' });
    expect((await onHub(MEMBER_CLUSTER, name)).metadata.resourceVersion).toBe(member.metadata.resourceVersion);
    expect((await inMember(ROLE, 'atoll-member')).metadata.resourceVersion).toBe(role.metadata.resourceVersion);
    expect((await onHub(SECRET, `member-${name}`, SYSTEM))['data']).not.toEqual(secret['data']);
  });

  it('touches nothing on the hub when the member refuses', async () => {
    const { server, caData = '' } = parseKubeconfig(labCluster(MEMBER).kubeconfig);
    const stranger = recordingClient(MEMBER, { server, caData, token: 'wrong' });
    const refusal = {
      message: expect.stringMatching(`^${name}: `) as string,
      cause: expect.any(UnauthorizedError) as Error,
    };
    await expect(join({}, stranger)).rejects.toMatchObject(refusal);
    await stranger.close();
    expect(await adminClient('hub').get({ gvk: MEMBER_CLUSTER, name })).toBeUndefined();
    expect(await adminClient('hub').get({ gvk: SECRET, namespace: SYSTEM, name: `member-${name}` })).toBeUndefined();
  });

  it.each<[string, Partial<JoinRequest>, RegExp]>([
    ['the name of the hub', { name: 'hub' }, /^hub: .*must not be "hub"/],
    ['a name that none can be', { name: 'EU_1' }, /^hub: .*EU_1/],
    ['a label that none can be', { labels: { tier: 'a b' } }, /^hub: .*metadata\.labels/],
    ['a namespace that the hub does not have', { namespace: 'nowhere' }, /^hub: .*nowhere/],
    ['an address that Atoll would not take', { connection: { server: 'http://127.0.0.1' } }, /server: only https/],
  ])('touches nothing in the member with %s', async (_, changed, message) => {
    const member = recordingClient(MEMBER, parseKubeconfig(labCluster(MEMBER).kubeconfig));
    await expect(joinCluster({ ...requestOf({}, member), ...changed })).rejects.toThrow(message);
    expect(member.requests).toEqual([]);
    await member.close();
  });

  it('is refused to a cluster that is a member under another name', async () => {
    await join();
    const uid = (await inMember(NAMESPACE, 'kube-system')).metadata.uid ?? '';
    const { apiVersion, kind } = await onHub(MEMBER_CLUSTER, name);
    const status = { observedGeneration: 1, uid };
    await adminClient('hub').apply({ apiVersion, kind, metadata: { name }, status }, asTester, {
      subresource: 'status',
    });
    const second = uniqueName('member');
    const message = `${second}: is a member already, as ${name}`;
    await expect(joinCluster({ ...requestOf(), name: second })).rejects.toThrow(message);
    await join();
  });
});

function podIn(namespace: string): KubernetesObject {
  const spec = { containers: [{ name: 'any', image: 'any' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'any', namespace }, spec };
}

async function onHub(gvk: GroupVersionKind, called: string, namespace?: string): Promise<KubernetesObject> {
  return read(adminClient('hub'), gvk, called, namespace);
}

async function inMember(gvk: GroupVersionKind, called: string): Promise<KubernetesObject> {
  return read(adminClient(MEMBER), gvk, called);
}

async function read(
  client: KubernetesClient,
  gvk: GroupVersionKind,
  called: string,
  namespace?: string,
): Promise<KubernetesObject> {
  const object = await client.get({ gvk, name: called, ...(namespace !== undefined && { namespace }) });
  if (object === undefined) throw new Error(`${gvk.kind} ${called} does not exist`);
  return object;
}

async function remove(gvk: GroupVersionKind, called: string, namespace?: string): Promise<void> {
  const ref = { gvk, name: called, ...(namespace !== undefined && { namespace }) };
  const uid = (await adminClient('hub').get(ref))?.metadata.uid;
  if (uid !== undefined) await adminClient('hub').delete(ref, { uid }, asTester);
}

async function createIfMissing(object: KubernetesObject): Promise<void> {
  await adminClient('hub').apply(object, asTester);
}
