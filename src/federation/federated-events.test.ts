import { describe, expect, it } from 'vitest';
import { placementRow } from '../../test/support/builders.ts';
import type { PlacementRow } from '../api/index.ts';
import { federatedEvents } from './federated-events.ts';

const members = new Set(['eu-1', 'us-1', 'ap-1']);

function told(before: readonly PlacementRow[] | undefined, after: readonly PlacementRow[]): string[] {
  const status = (placements: readonly PlacementRow[]) => ({ placements }) as never;
  const notes = federatedEvents(before && status(before), status(after), (cluster) => members.has(cluster));
  return notes.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
}

const row = (cluster: string, state: PlacementRow['state'], differences: Partial<PlacementRow> = {}): PlacementRow =>
  placementRow(cluster, { targetRevision: 'r1', state, reason: '', message: '', ...differences });

describe('what is told of a federated object', () => {
  it.each<[string, readonly PlacementRow[] | undefined, readonly PlacementRow[], readonly string[]]>([
    ['nothing while nothing changes', [row('eu-1', 'Synced')], [row('eu-1', 'Synced')], []],
    ['nothing of work that has begun', undefined, [row('eu-1', 'OutOfDate')], []],
    [
      'a cluster that has got its revision',
      [row('eu-1', 'OutOfDate')],
      [row('eu-1', 'Synced')],
      ['Normal ClusterSynced: eu-1: has revision r1'],
    ],
    [
      'clusters that got it at once, in one event',
      [row('us-1', 'OutOfDate'), row('eu-1', 'Conflict'), row('ap-1', 'OutOfDate')],
      [row('us-1', 'Synced'), row('eu-1', 'Synced'), row('ap-1', 'OutOfDate')],
      ['Normal ClusterSynced: eu-1, us-1: has revision r1'],
    ],
    [
      'the next revision',
      [row('eu-1', 'Synced')],
      [row('eu-1', 'Synced', { targetRevision: 'r2' })],
      ['Normal ClusterSynced: eu-1: has revision r2'],
    ],
    ['nothing when a cluster is watched again', [row('eu-1', 'Unknown')], [row('eu-1', 'Synced')], []],
    ['nothing when a cluster is not watched any longer', [row('eu-1', 'Synced')], [row('eu-1', 'Unknown')], []],
    [
      'nothing of a workload whose phase changes',
      [row('eu-1', 'Synced')],
      [row('eu-1', 'Synced', { phase: 'Failed' })],
      [],
    ],
    [
      'a refusal, for all clusters that say the same',
      [row('eu-1', 'OutOfDate'), row('us-1', 'OutOfDate')],
      [row('eu-1', 'Blocked', { message: 'no' }), row('us-1', 'Blocked', { message: 'no' })],
      ['Warning ClusterBlocked: eu-1, us-1: no'],
    ],
    [
      'a conflict',
      [row('eu-1', 'Synced')],
      [row('eu-1', 'Conflict', { message: 'held by hpa' })],
      ['Warning ClusterConflict: eu-1: held by hpa'],
    ],
    [
      'nothing of a refusal that stays, in whatever words',
      [row('eu-1', 'Blocked', { message: 'no' })],
      [row('eu-1', 'Blocked', { message: 'still no' })],
      [],
    ],
    [
      'a refusal of the next revision',
      [row('eu-1', 'Blocked', { message: 'no' })],
      [row('eu-1', 'Blocked', { message: 'no', targetRevision: 'r2' })],
      ['Warning ClusterBlocked: eu-1: no'],
    ],
    [
      'a withdrawal that begins',
      [row('eu-1', 'Synced'), row('us-1', 'Synced')],
      [row('eu-1', 'OutOfDate', { targetRevision: '' }), row('us-1', 'OutOfDate', { targetRevision: '' })],
      ['Normal Withdrawing: eu-1, us-1: to be removed'],
    ],
    [
      'a withdrawal that is done',
      [row('eu-1', 'OutOfDate', { targetRevision: '' }), row('us-1', 'OutOfDate', { targetRevision: '' })],
      [row('us-1', 'OutOfDate', { targetRevision: '' })],
      ['Normal Withdrawn: eu-1: withdrawn'],
    ],
    [
      'a withdrawal that is refused',
      [row('eu-1', 'OutOfDate', { targetRevision: '' })],
      [row('eu-1', 'Blocked', { targetRevision: '', message: 'a finalizer' })],
      ['Warning ClusterBlocked: eu-1: a finalizer'],
    ],
    [
      'a cluster that is no member any more: nothing was removed there',
      [row('gone', 'Synced')],
      [],
      ['Warning ClusterLeft: gone: no longer a member, and left as it is'],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(told(before, after)).toEqual(expected);
  });
});
