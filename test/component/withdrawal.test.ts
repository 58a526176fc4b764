import { describe, expect, it } from 'vitest';
import { done } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { PropagationFixture } from '../support/propagation-fixture.ts';

const member = PropagationFixture.install();

describe('a recorded withdrawal', () => {
  it('deletes the object in the foreground, and is done when it is gone', async () => {
    await member.applied();
    member.record({ targetRevision: '' });
    expect(await member.reconcile()).toEqual({ kind: 'requeueAfter', milliseconds: 5000 });
    expect(member.writes()).toEqual(['delete RedisCluster/sessions']);
    expect(member.reports).toEqual([{ targetRevision: '', state: 'OutOfDate', reason: 'Deleting', message: '' }]);
    await member.gone();
    expect(await member.reconcile()).toEqual(done);
    expect(member.reports.at(-1)).toEqual({ targetRevision: '', state: 'Removed', reason: 'Removed', message: '' });
    expect(member.writes()).toEqual([]);
  });

  it('is done only when the children are gone, too', async () => {
    await member.applied();
    const release = await member.createHeldChild();
    member.record({ targetRevision: '' });
    await member.reconcile();
    await member.settled();
    await member.reconcile();
    expect(member.reports.map(({ reason }) => reason)).toEqual(['Deleting', 'Deleting']);
    await release();
    await member.gone();
    await member.reconcile();
    expect(member.reports.at(-1)).toMatchObject({ state: 'Removed' });
  });

  it('waits for an object that something else holds, without asking for its deletion again', async () => {
    await member.applied();
    await member.update((live) => withFinalizers(live, ['example.org/hold']));
    member.record({ targetRevision: '' });
    await member.reconcile();
    await member.settled();
    await member.reconcile();
    expect(member.writes()).toEqual(['delete RedisCluster/sessions']);
    expect(member.reports.map(({ reason }) => reason)).toEqual(['Deleting', 'Deleting']);
    await member.update((live) => withFinalizers(live, []));
    await member.gone();
  });

  it('leaves the object where the policy is Orphan', async () => {
    const { metadata } = await member.applied();
    member.record({ targetRevision: '' }, { policy: { deletion: { policy: 'Orphan' } } });
    expect(await member.reconcile()).toEqual(done);
    expect(member.reports).toEqual([expect.objectContaining({ state: 'Removed', reason: 'Orphaned' })]);
    expect((await member.live())?.metadata.uid).toBe(metadata.uid);
    expect(member.writes()).toEqual([]);
  });

  it('leaves an object that was adopted, unless its policy says that it goes too', async () => {
    await member.createByHand();
    member.record({}, { policy: { adoption: 'Adopt', conflicts: 'Force' } });
    await member.reconcile();
    await member.settled();
    member.writes();
    member.record({ targetRevision: '' }, { policy: { adoption: 'Adopt' } });
    await member.reconcile();
    expect(member.reports.at(-1)).toMatchObject({ state: 'Removed', reason: 'Orphaned' });
    expect(member.writes()).toEqual([]);
    member.record({ targetRevision: '' }, { policy: { deletion: { policy: 'Delete', adopted: 'Delete' } } });
    await member.reconcile();
    expect(member.writes()).toEqual(['delete RedisCluster/sessions']);
  });

  it('leaves an object that is not ours, and counts as done', async () => {
    await member.createByHand();
    member.record({ targetRevision: '' });
    expect(await member.reconcile()).toEqual(done);
    expect(member.reports).toEqual([expect.objectContaining({ state: 'Removed', reason: 'NotOurs' })]);
    expect(await member.live()).toBeDefined();
  });

  it('is held while the object is suspended, but not when the object is deleted', async () => {
    await member.applied();
    member.record({ targetRevision: '' }, { suspend: true });
    expect(await member.reconcile()).toEqual(done);
    expect([member.writes(), member.reports]).toEqual([[], []]);
    member.onHub = {
      ...member.onHub,
      metadata: { ...member.onHub.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    await member.reconcile();
    expect(member.writes()).toEqual(['delete RedisCluster/sessions']);
  });
});

function withFinalizers(live: KubernetesObject, finalizers: readonly string[]): KubernetesObject {
  return { ...live, metadata: { ...live.metadata, finalizers } };
}
