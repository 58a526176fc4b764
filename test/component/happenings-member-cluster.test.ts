import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { engagementMemberRules } from '../../src/clusters/index.ts';
import { installDefinitions } from '../support/definitions.ts';
import { adminClient } from '../support/lab.ts';
import { MemberRegistry, kubeconfigOf } from '../support/member-registry.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';

let account: BoundServiceAccount;
let members: MemberRegistry;

beforeAll(async () => {
  await installDefinitions('hub', 'hub');
  const wired = { apiGroups: ['workloads.atoll.dev'], resources: ['redisclusters'], verbs: ['list', 'watch'] };
  account = await serviceAccountWith('eu-1', [...engagementMemberRules, wired]);
});

afterAll(() => account.remove());

beforeEach(async () => {
  members = await MemberRegistry.start();
});

afterEach(() => members.stop());

function told(): string[] {
  return members.events.told.splice(0).map((text) => text.replace(`MemberCluster ${members.name} `, ''));
}

describe('of a member is told', () => {
  it('that it was engaged, that it was lost and why, and that it is back; no look by itself', async () => {
    const { gitVersion } = await adminClient('eu-1').version();
    await members.join(kubeconfigOf(account.connection));
    await members.look();
    expect(told()).toEqual([`Normal Engaged: connected to a cluster of version ${gitVersion}`]);
    await members.look();
    expect(told()).toEqual([]);

    await members.setKubeconfig(kubeconfigOf({ ...account.connection, token: 'not.a.token' }));
    await members.look();
    expect(told()).toEqual([expect.stringMatching(/^Warning Unauthorized: /)]);
    await members.look();
    expect(told()).toEqual([]);

    await members.setKubeconfig(kubeconfigOf(account.connection));
    await members.look();
    expect(told()).toEqual([`Normal Recovered: connected to a cluster of version ${gitVersion}`]);
  });

  it('nothing when another replica takes it over', async () => {
    await members.join(kubeconfigOf(account.connection));
    await members.look();
    told();
    await members.registry.disengage(members.name);
    await members.look();
    expect(told()).toEqual([]);
  });
});
