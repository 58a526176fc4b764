import { describe, expect, it } from 'vitest';
import { CONTROLLER_REVISION } from '../../src/federation/index.ts';
import { done } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { memberCluster, memberStatus } from '../support/builders.ts';
import { FederatedFixture } from '../support/federated-fixture.ts';
import { adminClient, asTester, eventually } from '../support/lab.ts';

const hub = FederatedFixture.install();

const FINALIZER = 'federation.atoll.dev/cascade';

async function revisionNames(): Promise<(string | undefined)[]> {
  return (await hub.revisions()).map(({ metadata }) => metadata.name);
}

describe('a federated object', () => {
  it('gets its finalizer, a revision, and a row for each placed cluster', async () => {
    await hub.apply({ placement: { clusters: ['us-1', 'eu-1'] } });
    expect(await hub.reconcile()).toEqual(done);
    const [revision] = await revisionNames();
    expect(await hub.placements()).toEqual([
      `eu-1 ${revision} OutOfDate/Pending`,
      `us-1 ${revision} OutOfDate/Pending`,
    ]);
    const object = await hub.object();
    expect(object.metadata.finalizers).toEqual([FINALIZER]);
    expect(object.status).toMatchObject({ updateRevision: revision, phase: 'Progressing', observedGeneration: 1 });
    const managers = object.metadata.managedFields?.map(({ manager, subresource }) => [manager, subresource]);
    expect(managers).toContainEqual(['atoll-status', 'status']);
  });

  it('costs no write once that is done, neither at once nor after a restart', async () => {
    await hub.apply();
    await hub.reconcile();
    await hub.report('eu-1');
    await hub.reconcile();
    hub.writes();
    await hub.reconcile();
    await hub.stop();
    expect(hub.writes()).toEqual([]);
    await hub.start();
    await hub.reconcile();
    expect(hub.writes()).toEqual([]);
  });

  it('shows what the members report, and when a member is not watched any more', async () => {
    await hub.apply();
    await hub.reconcile();
    await hub.report('eu-1', { observed: { readyReplicas: 1, currentVersion: '8.2' } });
    await hub.reconcile();
    const { status } = await hub.object();
    expect(status).toMatchObject({
      phase: 'Running',
      currentRevision: status?.updateRevision,
      clusters: { summary: '1/1' },
      observed: { readyReplicas: 1, currentVersion: '8.2' },
    });
    hub.members = [memberCluster('eu-1', {}, { status: memberStatus(false) })];
    await hub.reconcile();
    expect((await hub.object()).status).toMatchObject({
      observed: { readyReplicas: 1, currentVersion: '8.2' },
      placements: [{ state: 'Unknown', reason: 'Unreachable', phase: 'Running' }],
    });
  });

  it('gets a new revision with a new template, and none with another placement', async () => {
    await hub.apply();
    await hub.reconcile();
    await hub.apply({ placement: { clusters: ['eu-1', 'us-1'] } });
    await hub.reconcile();
    expect(await revisionNames()).toHaveLength(1);
    await hub.apply({ template: { spec: { replicas: 2 } } });
    await hub.reconcile();
    const [, second] = await revisionNames();
    expect((await hub.object()).status).toMatchObject({ updateRevision: second });
  });

  it('goes back to the revision that it had before, without a new one', async () => {
    await hub.apply();
    await hub.reconcile();
    const [first] = await revisionNames();
    await hub.apply({ template: { spec: { replicas: 2 } } });
    await hub.reconcile();
    await hub.apply();
    await hub.reconcile();
    expect((await hub.object()).status?.updateRevision).toBe(first);
    expect(await revisionNames()).toHaveLength(2);
  });

  it('keeps as many old revisions as it says, beside those in use', async () => {
    for (const replicas of [1, 2, 3]) {
      await hub.apply({ template: { spec: { replicas } }, revisionHistoryLimit: 1 });
      await hub.reconcile();
      await hub.report('eu-1');
      await hub.reconcile();
    }
    expect((await hub.revisions()).map((revision) => revision['revision'])).toEqual([2, 3]);
  });

  it('has its revision made anew when somebody deletes it', async () => {
    await hub.apply();
    await hub.reconcile();
    const [revision] = await hub.revisions();
    const { name = '', uid = '' } = revision?.metadata ?? {};
    await adminClient('hub').delete({ gvk: CONTROLLER_REVISION, namespace: hub.namespace, name }, { uid }, asTester);
    await hub.reconcile();
    expect(await revisionNames()).toEqual([name]);
  });

  it('does not rely on the revision of a former object of its name, which goes', async () => {
    await hub.apply();
    await hub.reconcile();
    const [former] = await hub.revisions();
    await hub.deleteAtOnce();
    await hub.apply();
    await eventually(async () => (await hub.reconcile()) === done);
    const [revision] = await hub.revisions();
    expect(nameAndOwner(revision)).toEqual([nameAndOwner(former)[0], (await hub.object()).metadata.uid]);
    expect(nameAndOwner(revision)).not.toEqual(nameAndOwner(former));
  });

  it('has no new revision while it is suspended', async () => {
    await hub.apply();
    await hub.reconcile();
    const before = await hub.placements();
    await hub.apply({ template: { spec: { replicas: 2 } }, suspend: true });
    await hub.reconcile();
    expect(await revisionNames()).toHaveLength(1);
    expect(await hub.placements()).toEqual(before);
  });
});

describe('a cluster that leaves the placement', () => {
  it('has its row until it reports that the object is gone', async () => {
    await hub.apply({ placement: { clusters: ['eu-1', 'us-1'] } });
    await hub.reconcile();
    await Promise.all([hub.report('eu-1'), hub.report('us-1')]);
    await hub.apply({ placement: { clusters: ['us-1'] } });
    await hub.reconcile();
    expect((await hub.placements())[0]).toBe('eu-1  OutOfDate/Withdrawing');
    await hub.report('eu-1', { targetRevision: '', state: 'Removed' });
    await hub.reconcile();
    expect(await hub.placements()).toEqual([expect.stringMatching(/^us-1 .* Synced\/Synced$/)]);
  });

  it('does not pass for rid of the object by what it reported the last time it left', async () => {
    for (const clusters of [['eu-1', 'us-1'], ['us-1'], ['eu-1', 'us-1'], ['us-1']]) {
      await hub.apply({ placement: { clusters } });
      await hub.reconcile();
      if (clusters.length === 2) continue;
      expect((await hub.placements())[0]).toBe('eu-1  OutOfDate/Withdrawing');
      await hub.report('eu-1', { targetRevision: '', state: 'Removed' });
      await hub.reconcile();
      expect(await hub.placements()).toHaveLength(1);
    }
  });

  it('does not show what it reported before its MemberCluster was removed', async () => {
    await hub.apply();
    await hub.reconcile();
    await hub.report('eu-1');
    await hub.reconcile();
    const { members } = hub;
    hub.members = [];
    await hub.reconcile();
    expect(await hub.placements()).toEqual([]);
    hub.members = members;
    await hub.reconcile();
    expect(await hub.placements()).toEqual([expect.stringMatching(/^eu-1 .* OutOfDate\/Pending$/)]);
  });

  it('is withdrawn again when it reports an object that nobody records', async () => {
    await hub.apply({ placement: {} });
    await hub.reconcile();
    await hub.report('eu-1');
    await hub.reconcile();
    expect(await hub.placements()).toEqual(['eu-1  OutOfDate/Withdrawing']);
  });
});

describe('a federated object that is deleted', () => {
  it('stays until every recorded cluster is rid of it, and then leaves nothing', async () => {
    await hub.apply({ placement: { clusters: ['eu-1', 'us-1'] } });
    await hub.reconcile();
    const { uid = '' } = (await hub.object()).metadata;
    await Promise.all([hub.report('eu-1'), hub.report('us-1')]);
    await hub.delete();
    await hub.reconcile();
    expect(await hub.placements()).toEqual(['eu-1  OutOfDate/Withdrawing', 'us-1  OutOfDate/Withdrawing']);
    expect((await hub.object()).status?.phase).toBe('Terminating');

    await hub.report('eu-1', { targetRevision: '', state: 'Removed' });
    await hub.reconcile();
    expect(await hub.placements()).toEqual(['us-1  OutOfDate/Withdrawing']);

    await hub.report('us-1', { targetRevision: '', state: 'Removed' });
    expect(await hub.reconcile()).toEqual(done);
    expect(await hub.find()).toBeUndefined();
    expect((await hub.rows.read(uid)).size).toBe(0);
  });

  it('waits for a cluster that is not watched, and names it', async () => {
    await hub.apply();
    await hub.reconcile();
    hub.members = [memberCluster('eu-1', {}, { status: memberStatus(false) })];
    await hub.delete();
    await hub.reconcile();
    expect(await hub.placements()).toEqual(['eu-1  Unknown/Unreachable']);
    const ready = (await hub.object()).status?.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({ reason: 'Terminating', message: 'to be removed from eu-1' });
  });

  it('does not wait for a cluster whose MemberCluster is gone', async () => {
    await hub.apply();
    await hub.reconcile();
    hub.members = [];
    await hub.delete();
    await hub.reconcile();
    expect(await hub.find()).toBeUndefined();
  });
});

function nameAndOwner(revision: KubernetesObject | undefined): (string | undefined)[] {
  return [revision?.metadata.name, revision?.metadata.ownerReferences?.[0]?.uid];
}
