import { describe, expect, it } from 'vitest';
import { gitSource } from '../../../test/support/builders.ts';
import type { GitSource } from '../../api/index.ts';
import { gitSourceStatus } from './git-source-status.ts';
import type { SyncOutcome } from './git-source-status.ts';

const EARLIER = '2026-01-01T00:00:00Z';
const NOW = '2026-01-01T01:00:00Z';
const old = 'main@sha1:old';
const next = 'main@sha1:next';

type Status = NonNullable<GitSource['status']>;

function synced(revision: string): SyncOutcome {
  return { kind: 'synced', revision, result: { objects: 7, applied: 2, pruned: 1, left: [] } };
}

function failed(revision?: string): SyncOutcome {
  return { kind: 'failed', reason: 'InvalidManifests', message: 'apps/a.yaml:3:1: no', revision };
}

function statusAfter(outcome: SyncOutcome, before?: Status, metadata = {}, now = NOW): Status {
  return gitSourceStatus(gitSource({ metadata, ...(before !== undefined && { status: before }) }), outcome, now);
}

const good = statusAfter(synced(old), undefined, {}, EARLIER);

describe('the status of a GitSource', () => {
  it('that was synced names the revision, and how many objects it has', () => {
    expect(statusAfter(synced(next), good, { generation: 2 })).toEqual({
      observedGeneration: 2,
      observedRevision: next,
      attemptedRevision: next,
      appliedRevision: next,
      inventory: { objects: 7 },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Succeeded',
          message: `applied revision ${next}`,
          observedGeneration: 2,
          lastTransitionTime: EARLIER,
        },
      ],
    });
  });

  it('that is suspended keeps what its last sync said, says so, and answers requests', () => {
    const status = statusAfter({ kind: 'suspended' }, good, {
      generation: 3,
      annotations: { 'atoll.dev/requestedAt': 'now' },
    });
    expect(status).toMatchObject({ observedGeneration: 3, appliedRevision: old, lastHandledReconcileAt: 'now' });
    expect(status.conditions).toEqual([
      expect.objectContaining({ type: 'Ready', status: 'True', observedGeneration: 3, lastTransitionTime: EARLIER }),
      expect.objectContaining({ type: 'Suspended', status: 'True', lastTransitionTime: NOW }),
    ]);
    expect(statusAfter(synced(old), status).conditions).toHaveLength(1);
  });

  it('that is suspended before its first sync is neither ready nor not', () => {
    expect(statusAfter({ kind: 'suspended' }).conditions?.[0]).toMatchObject({ type: 'Ready', status: 'Unknown' });
  });

  it('whose new revision is bad keeps the applied one, and says so', () => {
    const status = statusAfter(failed(next), good);
    expect(status).toMatchObject({
      observedRevision: next,
      attemptedRevision: next,
      appliedRevision: old,
      inventory: { objects: 7 },
    });
    expect(status.conditions).toEqual([
      expect.objectContaining({
        status: 'False',
        reason: 'InvalidManifests',
        message: `apps/a.yaml:3:1: no (kept revision ${old})`,
        lastTransitionTime: NOW,
      }),
    ]);
  });

  it('that got no revision at all leaves what was seen before', () => {
    expect(statusAfter(failed(), good)).toMatchObject({
      observedRevision: old,
      attemptedRevision: old,
      appliedRevision: old,
    });
  });

  it('whose first revision is bad says that nothing is applied', () => {
    const status = statusAfter(failed(next));
    expect(status).not.toHaveProperty('appliedRevision');
    expect(status.conditions?.[0]?.message).toBe('apps/a.yaml:3:1: no (nothing is applied)');
  });

  it('answers a request to act now, also when it failed', () => {
    const metadata = { annotations: { 'atoll.dev/requestedAt': 'now' } };
    expect(statusAfter(synced(next), good, metadata).lastHandledReconcileAt).toBe('now');
    expect(statusAfter(failed(next), good, metadata).lastHandledReconcileAt).toBe('now');
  });

  it('is the same after the same outcome', () => {
    expect(statusAfter(synced(old), good)).toEqual(good);
    const bad = statusAfter(failed(next), good, {}, EARLIER);
    expect(statusAfter(failed(next), bad)).toEqual(bad);
  });
});
