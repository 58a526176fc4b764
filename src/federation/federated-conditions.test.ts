import { describe, expect, it } from 'vitest';
import { federatedObject, placementRow } from '../../test/support/builders.ts';
import type { PlacementRow } from '../api/index.ts';
import type { ConditionDraft } from '../kernel/index.ts';
import { federatedConditions } from './federated-conditions.ts';
import type { PlacementDecision } from './placement.ts';

const running = placementRow('eu-1');
const starting = placementRow('us-1', { phase: 'Progressing' });
const pending = placementRow('us-1', { state: 'OutOfDate', reason: 'Pending', phase: 'Running' });
const blocked = placementRow('us-1', { state: 'Blocked', reason: 'Invalid', message: 'spec.replicas: too many' });
const unreachable = placementRow('us-1', { state: 'Unknown', reason: 'Unreachable', message: 'not being watched' });
const withdrawn = placementRow('us-1', { targetRevision: '', state: 'OutOfDate', reason: 'Withdrawing' });
const failed = placementRow('us-1', { phase: 'Failed' });

interface Situation {
  readonly rows: readonly PlacementRow[];
  readonly object?: Parameters<typeof federatedObject>[0];
  readonly decisions?: readonly PlacementDecision[];
}

function conditionsOf({ rows, object = {}, decisions = [] }: Situation): ReadonlyMap<string, ConditionDraft> {
  const desired = rows.filter(({ targetRevision }) => targetRevision !== '').length;
  const clusters = { desired, synced: 0, ready: 0, summary: '' };
  const status = { observedGeneration: 4, placements: rows, clusters };
  const drafts = federatedConditions(federatedObject(object), status, decisions);
  return new Map(drafts.map((draft) => [draft.type, draft]));
}

/** "True/Reason" by type. */
function brief(situation: Situation): Record<string, string> {
  const entries = [...conditionsOf(situation)].map(([type, { status, reason }]) => [type, `${status}/${reason}`]);
  return Object.fromEntries(entries) as Record<string, string>;
}

const deleted = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
const unknownCluster: PlacementDecision = { cluster: 'ap-1', placed: false, reason: 'UnknownCluster' };

describe('the conditions of a federated object', () => {
  it.each<[string, Situation, Record<string, string>]>([
    [
      'that runs everywhere are good, and nothing is reconciling',
      { rows: [running] },
      { Ready: 'True/Ready', Available: 'True/Available', Progressing: 'False/Settled', Degraded: 'False/AsExpected' },
    ],
    [
      'that starts somewhere say so',
      { rows: [running, starting] },
      {
        Ready: 'False/Progressing',
        Available: 'False/NotAvailable',
        Progressing: 'True/Progressing',
        Reconciling: 'True/Progressing',
        Degraded: 'False/AsExpected',
      },
    ],
    [
      'that has fields of others somewhere say so, and are good all the same',
      {
        rows: [
          placementRow('eu-1', { reason: 'FieldsLeft', message: '.spec.replicas (hpa)' }),
          placementRow('us-1', { reason: 'FieldsFlipping', message: '.spec.a (kubectl-edit, flipping)' }),
        ],
      },
      {
        Ready: 'True/Ready',
        Available: 'True/Available',
        Progressing: 'False/Settled',
        Degraded: 'False/AsExpected',
        FieldsLeft: 'True/FieldsFlipping',
      },
    ],
    [
      'that gets a new revision stay available by the old one',
      { rows: [running, pending] },
      {
        Ready: 'False/Progressing',
        Available: 'True/Available',
        Progressing: 'True/Progressing',
        Reconciling: 'True/Progressing',
        Degraded: 'False/AsExpected',
      },
    ],
    [
      'that is blocked somewhere are degraded, and nothing moves',
      { rows: [running, { ...blocked, phase: 'Pending' }] },
      {
        Ready: 'False/Invalid',
        Available: 'False/NotAvailable',
        Progressing: 'False/Settled',
        Degraded: 'True/Invalid',
      },
    ],
    [
      'that is blocked in one cluster and starts in another both show',
      { rows: [{ ...starting, cluster: 'eu-1' }, blocked] },
      {
        Ready: 'False/Invalid',
        Available: 'False/NotAvailable',
        Progressing: 'True/Progressing',
        Reconciling: 'True/Progressing',
        Degraded: 'True/Invalid',
      },
    ],
    [
      'whose workload failed are degraded, and nothing moves',
      { rows: [running, failed] },
      {
        Ready: 'False/WorkloadFailed',
        Available: 'False/NotAvailable',
        Progressing: 'False/Settled',
        Degraded: 'True/WorkloadFailed',
      },
    ],
    [
      'in a cluster that is not watched are neither ready nor available there',
      { rows: [running, unreachable] },
      {
        Ready: 'False/Unreachable',
        Available: 'False/NotAvailable',
        Progressing: 'False/Settled',
        Degraded: 'False/AsExpected',
      },
    ],
    [
      'that is placed nowhere are stalled',
      { rows: [] },
      {
        Ready: 'False/NoClusters',
        Available: 'False/NotAvailable',
        Progressing: 'False/Settled',
        Stalled: 'True/NoClusters',
        Degraded: 'False/AsExpected',
      },
    ],
    [
      'whose last cluster is being left are not stalled yet',
      { rows: [withdrawn] },
      {
        Ready: 'False/Progressing',
        Available: 'False/NotAvailable',
        Progressing: 'True/Progressing',
        Reconciling: 'True/Progressing',
        Degraded: 'False/AsExpected',
      },
    ],
    [
      'that names a cluster which is no member are not ready',
      { rows: [running], decisions: [unknownCluster] },
      {
        Ready: 'False/UnknownCluster',
        Available: 'True/Available',
        Progressing: 'False/Settled',
        Degraded: 'False/AsExpected',
      },
    ],
    [
      'that is suspended do not reconcile, whatever is pending',
      { rows: [running, pending], object: { spec: { suspend: true } } },
      {
        Ready: 'False/Suspended',
        Available: 'True/Available',
        Progressing: 'False/Settled',
        Degraded: 'False/AsExpected',
      },
    ],
    [
      'that is being deleted reconcile until it is gone',
      { rows: [unreachable], object: deleted },
      {
        Ready: 'False/Terminating',
        Available: 'False/NotAvailable',
        Progressing: 'True/Terminating',
        Reconciling: 'True/Terminating',
        Degraded: 'False/AsExpected',
      },
    ],
  ])('%s', (_, situation, expected) => {
    expect(brief(situation)).toEqual(expected);
  });

  it('speak of the generation that the status speaks of', () => {
    for (const { observedGeneration } of conditionsOf({ rows: [running] }).values()) expect(observedGeneration).toBe(4);
  });

  it('name the clusters that are awaited, and what is wrong there', () => {
    const conditions = conditionsOf({ rows: [running, blocked] });
    expect(conditions.get('Ready')?.message).toBe('us-1: spec.replicas: too many');
    expect(conditions.get('Degraded')?.message).toBe('us-1: spec.replicas: too many');
    expect(conditionsOf({ rows: [running, starting] }).get('Ready')?.message).toBe('us-1: Progressing');
    expect(conditionsOf({ rows: [running], decisions: [unknownCluster] }).get('Ready')?.message).toBe(
      'no MemberCluster is named "ap-1"',
    );
    const waiting = conditionsOf({ rows: [running, unreachable] });
    expect(waiting.get('Available')?.message).toBe('not serving in us-1');
    expect(conditionsOf({ rows: [unreachable], object: deleted }).get('Ready')?.message).toBe(
      'to be removed from us-1',
    );
  });
});
