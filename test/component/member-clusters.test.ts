import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { redisClusterKind } from '../../src/api/index.ts';
import { engagementMemberRules } from '../../src/clusters/index.ts';
import { done, requeueAfter } from '../../src/kernel/index.ts';
import type { PolicyRule } from '../../src/kernel/index.ts';
import type { ObjectReference } from '../../src/kubernetes/index.ts';
import { freePort } from '../lab/ports.ts';
import { installDefinitions } from '../support/definitions.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { adminClient, asTester, auditEvents, eventually, labCluster } from '../support/lab.ts';
import { MemberRegistry, kubeconfigOf } from '../support/member-registry.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';

const NAMESPACE = { group: '', version: 'v1', kind: 'Namespace' };
const WELL = requeueAfter(20_000);
const UNWELL = requeueAfter(5000);

const wired: PolicyRule = {
  apiGroups: ['workloads.atoll.dev'],
  resources: ['redisclusters'],
  verbs: ['list', 'watch'],
};

let eu: BoundServiceAccount;
let us: BoundServiceAccount;
let nobody: BoundServiceAccount;
/** May be engaged, and watch nothing. */
let blind: BoundServiceAccount;
let members: MemberRegistry;

beforeAll(async () => {
  await installDefinitions('hub', 'hub');
  [eu, us, nobody, blind] = await Promise.all([
    serviceAccountWith('eu-1', [...engagementMemberRules, wired]),
    serviceAccountWith('us-1', [...engagementMemberRules, wired]),
    serviceAccountWith('eu-1', []),
    serviceAccountWith('eu-1', engagementMemberRules),
  ]);
});

afterAll(() => Promise.all([eu, us, nobody, blind].map((account) => account.remove())));

beforeEach(async () => {
  members = await MemberRegistry.start();
});

afterEach(() => members.stop());

const allTrue = {
  Ready: 'True/Ready',
  Reachable: 'True/Reachable',
  Authorized: 'True/Authorized',
  IdentityKnown: 'True/SameCluster',
};

describe('a member', () => {
  it('is Ready with version and UID once it is engaged, with the declared rights only', async () => {
    await members.join(kubeconfigOf(eu.connection));
    expect(await members.look()).toEqual(WELL);
    expect(await members.conditions()).toEqual(allTrue);
    const { gitVersion } = await adminClient('eu-1').version();
    const system = await adminClient('eu-1').get({ gvk: NAMESPACE, name: 'kube-system' });
    expect((await members.member())?.status).toMatchObject({
      version: gitVersion,
      uid: system?.metadata.uid,
      owner: 'replica-of-the-test',
    });
    expect(members.registry.engaged(members.name)?.uid).toBe(system?.metadata.uid);
    expect(members.enqueued).toBe(1);
  });

  it('stays engaged, and its status unwritten, while it stays well', async () => {
    await members.join(kubeconfigOf(eu.connection));
    await members.look();
    const { client } = engaged();
    const { metadata } = (await members.member()) ?? {};
    expect(await members.look()).toEqual(WELL);
    expect(engaged().client).toBe(client);
    expect((await members.member())?.metadata.resourceVersion).toBe(metadata?.resourceVersion);
    expect(members.enqueued).toBe(1);
  });

  it('is let go of when its MemberCluster is deleted', async () => {
    await members.join(kubeconfigOf(eu.connection));
    await members.look();
    await members.deleteMember();
    expect(await members.look()).toEqual(done);
    expect(members.registry.engaged(members.name)).toBeUndefined();
    expect(members.detached).toBe(1);
  });

  it('is engaged anew when its Secret names another server', async () => {
    const proxy = await FaultProxy.start(eu.connection);
    await members.join(kubeconfigOf(eu.connection));
    await members.look();
    const { client } = engaged();
    await members.setKubeconfig(kubeconfigOf(proxy.connection));
    expect(await members.look()).toEqual(WELL);
    expect(engaged().client).not.toBe(client);
    expect([members.enqueued, members.detached]).toEqual([2, 1]);
    await proxy.stop();
  });

  it('is let go of at once when its credentials are taken away', async () => {
    await members.join(kubeconfigOf(eu.connection));
    await members.look();
    await members.deleteSecret();
    expect(await members.look()).toEqual(UNWELL);
    expect(members.registry.engaged(members.name)).toBeUndefined();
    expect(members.detached).toBe(1);
    expect(await members.conditions()).toMatchObject({
      Ready: 'False/InvalidKubeconfig',
      IdentityKnown: 'True/SameCluster',
    });
  });

  it('whose informers do not sync is not engaged; nothing stays open when the look is given up', async () => {
    await members.join(kubeconfigOf(blind.connection));
    await expect(members.look(AbortSignal.timeout(500))).rejects.toThrow('aborted');
    expect(members.registry.engaged(members.name)).toBeUndefined();
    expect([members.enqueued, members.detached]).toEqual([0, 1]);
  });
});

describe('a member whose CRD is deleted', () => {
  const kind = { ...redisClusterKind, gvk: { ...redisClusterKind.gvk, group: 'deleted.atoll-test.example' } };
  const definition: ObjectReference = {
    gvk: { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' },
    name: `${kind.plural}.${kind.gvk.group}`,
  };

  async function deleteDefinition(): Promise<void> {
    const { uid = '' } = (await adminClient('eu-1').get(definition))?.metadata ?? {};
    await adminClient('eu-1').delete(definition, { uid }, asTester);
  }

  it('gets it back, and has all its keys looked at', async () => {
    const watching = { ...wired, apiGroups: [kind.gvk.group] };
    const account = await serviceAccountWith('eu-1', [...engagementMemberRules, watching]);
    const registry = await MemberRegistry.start(kind);
    await registry.join(kubeconfigOf(account.connection));
    expect(await registry.look()).toEqual(WELL);
    await deleteDefinition();
    await eventually(
      async () => {
        expect(await registry.look()).toEqual(WELL);
        return registry.enqueued === 2;
      },
      { message: 'it was not engaged anew' },
    );
    expect(await adminClient('eu-1').get(definition)).toBeDefined();
    await registry.stop();
    await deleteDefinition();
    await account.remove();
  });
});

describe('a member that cannot be engaged says why:', () => {
  it.each<[string, () => Promise<string | undefined>, Record<string, string>, string]>([
    [
      'its Secret is missing',
      () => Promise.resolve(undefined),
      { Ready: 'False/InvalidKubeconfig', Reachable: 'Unknown/NotChecked' },
      'does not exist',
    ],
    [
      'its kubeconfig would run a command',
      () => Promise.resolve(kubeconfigOf(eu.connection, { exec: { command: 'id' } })),
      { Ready: 'False/InvalidKubeconfig', Reachable: 'Unknown/NotChecked' },
      'exec',
    ],
    [
      'its token is not accepted',
      () => Promise.resolve(kubeconfigOf({ ...eu.connection, token: 'wrong' })),
      { Ready: 'False/Unauthorized', Reachable: 'True/Reachable', Authorized: 'False/Unauthorized' },
      '',
    ],
    [
      'its service account has no rights',
      () => Promise.resolve(kubeconfigOf(nobody.connection)),
      { Ready: 'False/Forbidden', Reachable: 'True/Reachable', Authorized: 'False/Forbidden' },
      'kube-system',
    ],
    [
      'nobody listens there',
      async () => kubeconfigOf({ ...eu.connection, server: `https://127.0.0.1:${await freePort()}` }),
      { Ready: 'False/Unreachable', Reachable: 'False/Unreachable', Authorized: 'Unknown/NotChecked' },
      '',
    ],
    [
      'its certificate is not of the authority that it names',
      () => Promise.resolve(kubeconfigOf({ ...eu.connection, caData: us.connection.caData ?? '' })),
      { Ready: 'False/Unreachable', Reachable: 'False/Unreachable' },
      '',
    ],
  ])('%s', async (_, kubeconfig, conditions, message) => {
    await members.join(await kubeconfig());
    expect(await members.look()).toEqual(UNWELL);
    expect(await members.conditions()).toMatchObject(conditions);
    expect(await members.message()).toContain(message);
    expect(members.registry.engaged(members.name)).toBeUndefined();
    expect(members.enqueued).toBe(0);
  });

  it('another cluster answers; nothing is written to that', async () => {
    await members.join(kubeconfigOf(eu.connection));
    await members.look();
    const { uid } = (await members.member())?.status ?? {};
    await members.setKubeconfig(kubeconfigOf(us.connection));
    expect(await members.look()).toEqual(UNWELL);
    expect(await members.conditions()).toMatchObject({
      Ready: 'False/IdentityChanged',
      IdentityKnown: 'False/IdentityChanged',
    });
    expect((await members.member())?.status?.uid).toBe(uid);
    expect(members.registry.engaged(members.name)).toBeUndefined();
    expect(await writesOf(us.username, 'us-1')).toEqual([]);

    await members.setKubeconfig(kubeconfigOf(eu.connection));
    expect(await members.look()).toEqual(WELL);
    expect(await members.conditions()).toEqual(allTrue);
  });
});

describe('a cluster with two names', () => {
  it('is worked under the first of them, and under the second when the first is gone', async () => {
    await members.join(kubeconfigOf(eu.connection));
    await members.look();
    const second = await MemberRegistry.start();
    await second.join(kubeconfigOf(eu.connection));
    expect(await second.look()).toEqual(UNWELL);
    expect(await second.conditions()).toMatchObject({
      Ready: 'False/AlreadyMember',
      IdentityKnown: 'False/AlreadyMember',
    });
    expect(await second.message()).toContain(members.name);
    expect(second.registry.engaged(second.name)).toBeUndefined();
    expect(await members.look()).toEqual(WELL);

    await members.deleteMember();
    await eventually(async () => {
      await second.look();
      return (await second.conditions())['Ready'] === 'True/Ready';
    });
    await second.stop();
  });
});

describe('a member that stops answering', () => {
  let proxy: FaultProxy;
  beforeEach(async () => {
    proxy = await FaultProxy.start(eu.connection);
    await members.join(kubeconfigOf(proxy.connection));
    await members.look();
  });
  afterEach(() => proxy.stop());

  it('is not worked, but not called unreachable, for half a minute', async () => {
    await proxy.stop();
    expect(await members.look()).toEqual(UNWELL);
    expect(members.registry.engaged(members.name)).toBeUndefined();
    expect(await members.conditions()).toEqual(allTrue);
    members.pass(30_000);
    expect(await members.look()).toEqual(UNWELL);
    expect(await members.conditions()).toMatchObject({ Ready: 'False/Unreachable', IdentityKnown: 'True/SameCluster' });
  });

  it('has all its keys looked at when it comes back', async () => {
    await proxy.stop();
    members.pass(30_000);
    await members.look();
    expect(members.enqueued).toBe(1);
    await proxy.listen();
    await eventually(async () => {
      await members.look();
      return (await members.conditions())['Ready'] === 'True/Ready';
    });
    expect(members.enqueued).toBe(2);
    expect(members.detached).toBe(0);
    expect(members.registry.engaged(members.name)).toBeDefined();
  });

  it('is not called well while what it has cannot be watched', async () => {
    proxy.fault = ({ url }) => (url.includes('redisclusters') ? { status: 500 } : undefined);
    proxy.cut();
    members.pass(151_000);
    expect(await members.look()).toEqual(UNWELL);
    expect(await members.conditions()).toMatchObject({
      Ready: 'False/NotWatched',
      Reachable: 'True/Reachable',
      IdentityKnown: 'True/SameCluster',
    });
    expect(members.registry.engaged(members.name)).toBeUndefined();
    proxy.fault = () => undefined;
    await eventually(async () => {
      await members.look();
      return (await members.conditions())['Ready'] === 'True/Ready';
    });
    expect(members.registry.engaged(members.name)).toBeDefined();
  });

  it('is taken for another cluster when another one answers at its address', async () => {
    proxy.fault = ({ url }) =>
      url.includes('kube-system') ? { status: 200, headers: json, body: otherSystem } : undefined;
    expect(await members.look()).toEqual(UNWELL);
    expect(await members.conditions()).toMatchObject({ Ready: 'False/IdentityChanged' });
    expect(members.registry.engaged(members.name)).toBeUndefined();
    expect(members.detached).toBe(1);
  });
});

const json = { 'content-type': 'application/json' };
const otherSystem = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'kube-system', uid: 'other' },
});

function engaged(): NonNullable<ReturnType<MemberRegistry['registry']['engaged']>> {
  const cluster = members.registry.engaged(members.name);
  if (cluster === undefined) throw new Error('the member is not engaged');
  return cluster;
}

/** What a user wrote in a cluster, by its audit log. */
async function writesOf(username: string, cluster: string): Promise<string[]> {
  const events = await auditEvents(labCluster(cluster));
  return events.filter(({ user }) => user.username === username).map(({ verb, requestURI }) => `${verb} ${requestURI}`);
}
