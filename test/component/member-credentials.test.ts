import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { engagementMemberRules } from '../../src/clusters/index.ts';
import { requeueAfter } from '../../src/kernel/index.ts';
import type { PolicyRule } from '../../src/kernel/index.ts';
import { installDefinitions } from '../support/definitions.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { eventually } from '../support/lab.ts';
import { MemberRegistry, kubeconfigOf } from '../support/member-registry.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';

const WELL = requeueAfter(20_000);
const UNWELL = requeueAfter(5000);

const wired: PolicyRule = {
  apiGroups: ['workloads.atoll.dev'],
  resources: ['redisclusters'],
  verbs: ['list', 'watch'],
};

let former: BoundServiceAccount;
let renewed: BoundServiceAccount;
let members: MemberRegistry;
let proxy: FaultProxy;

beforeAll(async () => {
  await installDefinitions('hub', 'hub');
  [former, renewed] = await Promise.all([
    serviceAccountWith('eu-1', [...engagementMemberRules, wired]),
    serviceAccountWith('eu-1', [...engagementMemberRules, wired]),
  ]);
});

afterAll(() => Promise.all([former.remove(), renewed.remove()]));

beforeEach(async () => {
  members = await MemberRegistry.start();
  proxy = await FaultProxy.start(former.connection);
  await members.join(kubeconfigOf(proxy.connection));
  await members.look();
});

afterEach(async () => {
  await members.stop();
  await proxy.stop();
});

const bearer = ({ connection }: BoundServiceAccount): string => `Bearer ${String(connection.token)}`;
const withToken = (token: unknown): string => kubeconfigOf({ ...proxy.connection, token: String(token) });
const sentWith = (account: BoundServiceAccount): FaultProxy['seen'] =>
  proxy.seen.filter(({ headers }) => headers.authorization === bearer(account));

describe('a member whose credentials change', () => {
  it('keeps its informers: their watches go on with the new ones, nothing is listed again', async () => {
    const { client } = engaged();
    proxy.seen.length = 0;
    await members.setKubeconfig(withToken(renewed.connection.token));
    expect(await members.look()).toEqual(WELL);
    expect(engaged().client).toBe(client);
    await eventually(() => proxy.seen.some(({ url }) => url.includes('watch=true')));
    expect(sentWith(former)).toEqual([]);
    const read = proxy.seen.filter(({ url }) => url.includes('redisclusters'));
    const queries = read.map(({ url }) => Object.fromEntries(new URL(url, 'https://x').searchParams));
    // A reflector asks for the newest version before it goes on; anything else that is no watch would be a new list.
    expect(queries.filter(({ limit }) => limit !== '1')).toEqual([
      expect.objectContaining({ watch: 'true', resourceVersion: expect.stringMatching(/^[1-9]/) as string }),
    ]);
    expect(queries.some(({ sendInitialEvents }) => sendInitialEvents !== undefined)).toBe(false);
    expect([members.enqueued, members.detached]).toEqual([1, 0]);
  });

  it('is not worked with ones that are not accepted, and says so at once', async () => {
    await members.setKubeconfig(withToken('wrong'));
    expect(await members.look()).toEqual(UNWELL);
    expect(members.registry.engaged(members.name)).toBeUndefined();
    expect(await members.conditions()).toMatchObject({
      Ready: 'False/Unauthorized',
      IdentityKnown: 'True/SameCluster',
    });
    await members.setKubeconfig(withToken(renewed.connection.token));
    expect(await members.look()).toEqual(WELL);
    expect([members.enqueued, members.detached]).toEqual([2, 0]);
  });

  it('is let go of when they lead to another cluster', async () => {
    proxy.fault = ({ url, headers }) =>
      url.includes('kube-system') && headers.authorization === bearer(renewed)
        ? { status: 200, headers: json, body: otherSystem }
        : undefined;
    proxy.seen.length = 0;
    await members.setKubeconfig(withToken(renewed.connection.token));
    expect(await members.look()).toEqual(UNWELL);
    expect(await members.conditions()).toMatchObject({ Ready: 'False/IdentityChanged' });
    expect(members.detached).toBe(1);
    expect(sentWith(renewed).filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('has them read from the hub when it answers 401 before the informer has told', async () => {
    const cluster = engaged();
    await members.setKubeconfig(withToken(renewed.connection.token));
    proxy.fault = ({ headers }) => (headers.authorization === bearer(former) ? { status: 401 } : undefined);
    proxy.seen.length = 0;
    await expect(cluster.client.version()).resolves.toHaveProperty('gitVersion');
    expect(sentWith(former)).toHaveLength(1);
    expect([members.enqueued, members.detached]).toEqual([1, 0]);
  });

  it('is not asked with ones that were read after a 401 and lead to another cluster', async () => {
    const cluster = engaged();
    await members.setKubeconfig(withToken(renewed.connection.token));
    proxy.fault = ({ url, headers }) => {
      if (headers.authorization === bearer(former)) return { status: 401 };
      return url.includes('kube-system') ? { status: 200, headers: json, body: otherSystem } : undefined;
    };
    proxy.seen.length = 0;
    await expect(cluster.client.readyz()).rejects.toThrow();
    const asked = sentWith(renewed).map(({ url }) => url);
    expect(asked).toContain('/api/v1/namespaces/kube-system');
    expect(asked).not.toContain('/readyz');
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
