import { describe, expect, it } from 'vitest';
import { LeaseLostError, TerminalError, done } from '../../src/kernel/index.ts';
import { BY_HAND, CLUSTER, PropagationFixture } from '../support/propagation-fixture.ts';

const member = PropagationFixture.install();

describe('a recorded revision', () => {
  it('is applied under the name of the federated object, in a namespace that is created for it', async () => {
    member.record({}, {}, [
      {
        name: 'eu',
        selector: { matchLabels: { region: 'eu' } },
        patches: [{ op: 'replace', path: '/spec/replicas', value: 2 }],
      },
    ]);
    expect(await member.reconcile()).toEqual(done);
    expect(member.reports).toEqual([
      { targetRevision: 'r1', state: 'Synced', reason: 'Synced', message: '', phase: 'Progressing' },
    ]);
    const object = await member.live();
    expect(object).toMatchObject({
      metadata: { labels: { team: 'shop' }, annotations: { 'atoll.dev/revision': 'r1' } },
      spec: { replicas: 2, version: '8.2' },
    });
    expect(object?.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['atoll']);
  });

  it('costs no request when it is there, neither at once nor after a restart', async () => {
    member.record({});
    await member.reconcile();
    member.writes();
    await member.reconcile();
    expect(member.writes()).toEqual([]);
    await member.settled();
    await member.reconcile();
    expect(member.client.takeRequests()).toEqual([]);

    await member.stop();
    await member.start();
    await member.reconcile();
    expect(member.client.takeRequests()).toEqual([]);
    expect(member.reports.map(({ state }) => state)).toEqual(['Synced', 'Synced', 'Synced', 'Synced']);
  });

  it('is brought back when somebody deletes or edits it', async () => {
    await member.applied();
    await member.deleteByHand();
    await member.reconcile();
    expect(await member.live()).toMatchObject({ spec: { replicas: 1 } });
    await member.update((live) => ({ ...live, spec: { replicas: 5, version: '8.2' } }), 'kubectl-edit');
    await member.reconcile();
    expect(await member.live()).toMatchObject({ spec: { replicas: 1 } });
  });

  it('is not applied while the object is suspended', async () => {
    member.record({}, { suspend: true });
    expect(await member.reconcile()).toEqual(done);
    expect([member.client.takeRequests(), member.reports]).toEqual([[], []]);
  });

  it('is shown as blocked, and not tried again, when an override does not fit', async () => {
    member.record({}, {}, [
      { name: 'eu-memory', clusters: [CLUSTER], patches: [{ op: 'replace', path: '/spec/no/such', value: 1 }] },
    ]);
    await expect(member.reconcile()).rejects.toThrow(TerminalError);
    expect(member.reports).toEqual([
      expect.objectContaining({ targetRevision: 'r1', state: 'Blocked', reason: 'OverrideFailed' }),
    ]);
    expect(member.reports[0]?.message).toContain('"eu-memory"');
    expect(member.writes()).toEqual([]);
  });

  it('is shown as blocked when the API server refuses it, in its words', async () => {
    member.record({}, {}, [
      { name: 'many', clusters: [CLUSTER], patches: [{ op: 'replace', path: '/spec/replicas', value: -1 }] },
    ]);
    await expect(member.reconcile()).rejects.toThrow(TerminalError);
    expect(member.reports).toEqual([expect.objectContaining({ state: 'Blocked', reason: 'Invalid' })]);
    expect(member.reports[0]?.message).toContain('spec.replicas');
  });

  it('is shown as forbidden when the service account that it names may not, and looked at again in a minute', async () => {
    await member.createNamespace();
    await member.stop();
    await member.start('as administrator');
    member.record({}, { serviceAccountName: 'tenant' });
    expect(await member.reconcile()).toEqual({ kind: 'requeueAfter', milliseconds: 60_000 });
    expect(member.reports).toEqual([expect.objectContaining({ state: 'Blocked', reason: 'Forbidden' })]);
    expect(member.reports[0]?.message).toContain(`system:serviceaccount:${member.namespace}:tenant`);
  });

  it('does not touch an object of that name which is not ours', async () => {
    await member.createByHand();
    member.record({});
    expect(await member.reconcile()).toEqual(done);
    expect(member.reports).toEqual([expect.objectContaining({ state: 'Conflict', reason: 'NotOurs' })]);
    expect(member.writes()).toEqual([]);
    expect(await member.live()).toMatchObject({ spec: BY_HAND });
  });

  it('takes over such an object when it is told to, and leaves the fields that another manager holds', async () => {
    await member.createByHand();
    member.record({}, { policy: { adoption: 'Adopt' } });
    await member.reconcile();
    expect(member.reports).toEqual([expect.objectContaining({ state: 'Synced', reason: 'FieldsLeft' })]);
    expect(member.reports[0]?.message).toBe('left to others: .spec.replicas (test), .spec.version (test)');
    expect(await member.live()).toMatchObject({ metadata: { labels: { team: 'shop' } }, spec: BY_HAND });
  });

  it('takes such fields too when conflicts are to be forced', async () => {
    await member.createByHand();
    member.record({}, { policy: { adoption: 'Adopt', conflicts: 'Force' } });
    await member.reconcile();
    expect(member.reports.at(-1)).toMatchObject({ state: 'Synced', reason: 'Synced' });
    expect(await member.live()).toMatchObject({ spec: { replicas: 1, version: '8.2' } });
  });

  it('is created once and then left as it is when it is never to be updated', async () => {
    const before = await member.applied();
    member.record({}, { policy: { updates: 'Never' } }, [
      { name: 'more', clusters: [CLUSTER], patches: [{ op: 'replace' as const, path: '/spec/replicas', value: 2 }] },
    ]);
    await member.reconcile();
    expect(member.writes()).toEqual([]);
    expect(member.reports.at(-1)).toMatchObject({ state: 'Synced', reason: 'NotUpdated' });
    expect(await member.live()).toEqual(before);
  });

  it('is neither written nor reported once the lease is lost', async () => {
    member.record({});
    const guard = (): void => {
      throw new LeaseLostError('lost');
    };
    await expect(member.reconcile(guard)).rejects.toThrow(LeaseLostError);
    expect(await member.live()).toBeUndefined();
    await member.applied();
    await expect(member.reconcile(guard)).rejects.toThrow(LeaseLostError);
    expect(member.reports).toEqual([]);
  });
});
