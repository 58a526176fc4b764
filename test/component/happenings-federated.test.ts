import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../src/kernel/index.ts';
import { memberCluster, memberStatus } from '../support/builders.ts';
import { FederatedFixture } from '../support/federated-fixture.ts';

const hub = FederatedFixture.install();

/** What was told since this was asked for last. */
function told(): string[] {
  return hub.events.told.splice(0).map((text) => text.replace('FederatedRedisCluster sessions ', ''));
}

describe('of a federated object is told', () => {
  it('its way: a revision, the clusters that have it, a trouble, its end, the withdrawal', async () => {
    await hub.apply({ placement: { clusters: ['us-1', 'eu-1'] } });
    await hub.reconcile();
    const [revision] = (await hub.revisions()).map(({ metadata }) => metadata.name);
    expect(told()).toEqual([`Normal RevisionCreated: created revision ${revision}`]);

    await hub.report('eu-1');
    await hub.report('us-1', { state: 'Blocked', reason: 'Forbidden', message: 'no right' });
    await hub.reconcile();
    expect(told()).toEqual([
      `Normal ClusterSynced: eu-1: has revision ${revision}`,
      'Warning ClusterBlocked: us-1: no right',
    ]);

    await hub.report('us-1');
    await hub.reconcile();
    expect(told()).toEqual([`Normal ClusterSynced: us-1: has revision ${revision}`]);

    await hub.delete();
    await hub.reconcile();
    expect(told()).toEqual(['Normal Withdrawing: eu-1, us-1: to be removed']);
    await hub.report('eu-1', { state: 'Removed', targetRevision: '' });
    await hub.reconcile();
    expect(told()).toEqual(['Normal Withdrawn: eu-1: withdrawn']);
  });

  it('nothing when nothing happens, and nothing after a restart', async () => {
    await hub.apply();
    await hub.reconcile();
    await hub.report('eu-1');
    await hub.reconcile();
    told();
    await hub.reconcile();
    expect(told()).toEqual([]);
    await hub.stop();
    await hub.start();
    await hub.reconcile();
    expect(told()).toEqual([]);
  });

  it('nothing when Redis lost every report', async () => {
    await hub.apply();
    await hub.reconcile();
    await hub.report('eu-1');
    await hub.reconcile();
    told();
    await hub.rows.drop((await hub.object()).metadata.uid ?? '');
    await hub.reconcile();
    expect(told()).toEqual([]);
  });

  it('nothing when a member is away and back: its MemberCluster tells', async () => {
    await hub.apply();
    await hub.reconcile();
    await hub.report('eu-1');
    await hub.reconcile();
    told();
    hub.members = [memberCluster('eu-1', {}, { status: memberStatus(false) })];
    await hub.reconcile();
    hub.members = [memberCluster('eu-1', {}, { status: memberStatus(true) })];
    await hub.reconcile();
    expect(told()).toEqual([]);
  });

  it('nothing of a status that could not be written', async () => {
    await hub.apply();
    await hub.reconcile();
    await hub.report('eu-1');
    told();
    const guard = (): void => {
      throw new LeaseLostError('lost');
    };
    await expect(hub.reconcile(guard)).rejects.toThrow(LeaseLostError);
    expect(told()).toEqual([]);
  });
});
