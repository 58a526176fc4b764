import { describe, expect, it } from 'vitest';
import { federatedObject, placementRow } from '../../test/support/builders.ts';
import type { PlacementRow } from '../api/index.ts';
import { foldStatus } from './fold-status.ts';
import type { FoldInput, MemberState } from './fold-status.ts';
import type { StatusRow } from './status-rows.ts';

const EARLIER = '2026-01-01T00:00:00Z';
const NOW = '2026-01-01T01:00:00Z';
const ready: MemberState = { ready: true, reason: 'Ready' };

interface Situation {
  /** Clusters that the placement picks. */
  readonly placed?: readonly string[];
  /** What the hub shows so far. */
  readonly before?: readonly PlacementRow[];
  readonly reports?: Readonly<Record<string, Partial<StatusRow>>>;
  readonly members?: Readonly<Record<string, MemberState>>;
  readonly object?: Parameters<typeof federatedObject>[0];
  readonly updateRevision?: string;
  readonly decisions?: FoldInput['decisions'];
}

const synced: StatusRow = { targetRevision: 'r1', state: 'Synced', reason: 'Synced', message: '' };

function fold({
  placed = [],
  before,
  reports = {},
  updateRevision = 'r1',
  ...rest
}: Situation): ReturnType<typeof foldStatus> {
  const { object = {}, members = { 'eu-1': ready, 'us-1': ready } } = rest;
  const status = before === undefined ? object.status : { ...object.status, placements: before };
  return foldStatus({
    object: federatedObject({ ...object, ...(status !== undefined && { status }) }),
    decisions: rest.decisions ?? placed.map((cluster) => ({ cluster, placed: true, reason: 'Named' })),
    updateRevision,
    rows: new Map(Object.entries(reports).map(([cluster, row]) => [cluster, { ...synced, ...row }])),
    members: new Map(Object.entries(members)),
    now: NOW,
  });
}

/** The only row. */
function rowOf(situation: Situation): PlacementRow {
  const rows = fold(situation).placements ?? [];
  expect(rows).toHaveLength(1);
  return rows[0] as PlacementRow;
}

function withdrawing(differences: Partial<PlacementRow> = {}): PlacementRow {
  return placementRow('eu-1', { targetRevision: '', state: 'OutOfDate', reason: 'Withdrawing', ...differences });
}

const running = { phase: 'Running', observed: { readyReplicas: 3, currentVersion: '8.2' } };
const removed: Partial<StatusRow> = { targetRevision: '', state: 'Removed' };
const placed = ['eu-1'];
const runs: Situation = { placed, reports: { 'eu-1': running } };
const ran = [placementRow('eu-1', running)];

const lost = { 'eu-1': { ready: false, reason: 'Unreachable' } };

describe('the row of a placed cluster', () => {
  it.each<[string, Situation, Partial<PlacementRow>]>([
    [
      'is pending before anything is reported',
      { placed },
      { state: 'OutOfDate', reason: 'Pending', targetRevision: 'r1' },
    ],
    [
      'is synced but not running while the workload starts',
      { placed, reports: { 'eu-1': { phase: 'Progressing' } } },
      { state: 'Synced', phase: 'Progressing' },
    ],
    ['shows phase and figures of the workload', runs, { state: 'Synced', reason: 'Synced', ...running }],
    [
      'is pending again for a new revision, and still shows the old one serving',
      { ...runs, updateRevision: 'r2', before: ran },
      { state: 'OutOfDate', reason: 'Pending', targetRevision: 'r2', ...running },
    ],
    [
      'says why it is blocked, and keeps phase and figures',
      {
        placed,
        before: ran,
        reports: { 'eu-1': { state: 'Blocked', reason: 'Invalid', message: 'spec.replicas: too many' } },
      },
      { state: 'Blocked', reason: 'Invalid', message: 'spec.replicas: too many', ...running },
    ],
    [
      'says with whom it is in conflict',
      { placed, reports: { 'eu-1': { state: 'Conflict', reason: 'NotOurs', message: 'exists already' } } },
      { state: 'Conflict', reason: 'NotOurs', message: 'exists already' },
    ],
    [
      'is Unknown while the member is not watched, and keeps phase and figures',
      { ...runs, members: lost, before: ran },
      { state: 'Unknown', reason: 'Unreachable', message: 'the cluster is not being watched', ...running },
    ],
    [
      'comes back from Unknown by what was reported last',
      { ...runs, before: [placementRow('eu-1', { state: 'Unknown', reason: 'Unreachable' })] },
      { state: 'Synced', reason: 'Synced', message: '' },
    ],
    [
      'keeps what the hub shows when the report is missing',
      {
        placed,
        before: [placementRow('eu-1', { state: 'Blocked', reason: 'Forbidden', message: 'no', phase: 'Failed' })],
      },
      { state: 'Blocked', reason: 'Forbidden', message: 'no', phase: 'Failed' },
    ],
    [
      'is not kept for another revision when the report is missing',
      { placed, updateRevision: 'r2', before: [placementRow('eu-1')] },
      { state: 'OutOfDate', reason: 'Pending', targetRevision: 'r2' },
    ],
    [
      'is not kept Unknown when the report is missing and the member is back',
      { placed, before: [placementRow('eu-1', { state: 'Unknown', reason: 'Unreachable' })] },
      { state: 'OutOfDate', reason: 'Pending' },
    ],
    [
      'shows at most 256 characters of a message',
      { placed, reports: { 'eu-1': { state: 'Blocked', message: 'x'.repeat(300) } } },
      { message: 'x'.repeat(256) },
    ],
    [
      'stays at its revision while the object is suspended and has no other',
      { placed, updateRevision: '', before: [placementRow('eu-1')] },
      { targetRevision: 'r1', state: 'Synced' },
    ],
  ])('%s', (_, situation, expected) => {
    expect(rowOf(situation)).toMatchObject(expected);
  });

  it('does not exist before there is a revision', () => {
    expect(fold({ placed, updateRevision: '' }).placements).toEqual([]);
  });
});

describe('the row of a cluster that left the placement', () => {
  it.each<[string, Situation, Partial<PlacementRow>]>([
    [
      'is withdrawn',
      { ...runs, placed: [], before: ran },
      { targetRevision: '', state: 'OutOfDate', reason: 'Withdrawing' },
    ],
    [
      'shows that the object is being deleted',
      { before: [withdrawing()], reports: { 'eu-1': { targetRevision: '', state: 'OutOfDate', reason: 'Deleting' } } },
      { targetRevision: '', state: 'OutOfDate', reason: 'Deleting' },
    ],
    [
      'is Unknown while the member is not watched, and stays',
      { before: [withdrawing()], members: { 'eu-1': { ready: false, reason: 'Unauthorized' } } },
      { targetRevision: '', state: 'Unknown', reason: 'Unauthorized' },
    ],
    [
      'stays when the report is missing',
      { before: [withdrawing({ reason: 'Deleting' })] },
      { targetRevision: '', state: 'OutOfDate', reason: 'Deleting' },
    ],
    [
      'comes back for a cluster that reports an object which nobody records',
      { ...runs, placed: [], before: [] },
      { targetRevision: '', state: 'OutOfDate', reason: 'Withdrawing' },
    ],
    [
      'becomes a placed one again when the placement picks it',
      {
        placed,
        before: [withdrawing()],
        reports: { 'eu-1': { targetRevision: '', state: 'OutOfDate', reason: 'Deleting' } },
      },
      { targetRevision: 'r1', state: 'OutOfDate', reason: 'Pending' },
    ],
  ])('%s', (_, situation, expected) => {
    expect(rowOf(situation)).toMatchObject(expected);
  });

  it.each<[string, Situation]>([
    ['once the member reports it removed', { reports: { 'eu-1': removed } }],
    ['with its MemberCluster', { members: { 'us-1': ready } }],
    [
      'when it is removed, although the member is not watched any more',
      { members: lost, reports: { 'eu-1': removed } },
    ],
  ])('goes %s', (_, situation) => {
    expect(fold({ before: [withdrawing()], ...situation }).placements).toEqual([]);
  });
});

describe('the times of a row', () => {
  const timed = { lastTransitionTime: EARLIER, lastSuccessTime: EARLIER };

  it.each<[string, Situation, Partial<PlacementRow>]>([
    ['begin with its first state', runs, { lastTransitionTime: NOW, lastSuccessTime: NOW }],
    [
      'stay while state and target stay',
      { placed, before: [placementRow('eu-1', timed)], reports: { 'eu-1': { ...running, phase: 'Scaling' } } },
      timed,
    ],
    [
      'move with the state, and keep the last success',
      { placed, before: [placementRow('eu-1', timed)], reports: { 'eu-1': { state: 'Blocked', reason: 'Invalid' } } },
      { lastTransitionTime: NOW, lastSuccessTime: EARLIER },
    ],
    [
      'move with the target',
      {
        placed,
        updateRevision: 'r2',
        before: [placementRow('eu-1', timed)],
        reports: { 'eu-1': { targetRevision: 'r2' } },
      },
      { lastTransitionTime: NOW, lastSuccessTime: NOW },
    ],
  ])('%s', (_, situation, expected) => {
    expect(rowOf(situation)).toMatchObject(expected);
  });

  it('do not name a success that never was', () => {
    expect(rowOf({ placed })).not.toHaveProperty('lastSuccessTime');
  });
});

describe('the status', () => {
  const both = ['eu-1', 'us-1'];
  const allRunning = { 'eu-1': running, 'us-1': running };

  it('has rows sorted by cluster, whatever the order they came in', () => {
    const rows = fold({ placed: ['us-1', 'eu-1'], reports: allRunning }).placements ?? [];
    expect(rows.map(({ cluster }) => cluster)).toEqual(['eu-1', 'us-1']);
  });

  it('counts placed clusters only', () => {
    const situation = { placed: ['us-1'], before: [placementRow('eu-1')], reports: { 'us-1': running } };
    expect(fold(situation).clusters).toEqual({ desired: 1, synced: 1, ready: 1, summary: '1/1' });
  });

  it('counts a synced cluster whose workload is not up as not ready', () => {
    const reports = { 'eu-1': running, 'us-1': { phase: 'Progressing' } };
    expect(fold({ placed: both, reports }).clusters).toEqual({ desired: 2, synced: 2, ready: 1, summary: '1/2' });
  });

  it('sums numbers, and joins texts that differ', () => {
    const reports = {
      'eu-1': { observed: { readyReplicas: 3, currentVersion: '8.2' } },
      'us-1': { observed: { readyReplicas: 2, currentVersion: '8.1' } },
    };
    expect(fold({ placed: both, reports }).observed).toEqual({ readyReplicas: 5, currentVersion: '8.1, 8.2' });
    expect(fold({ placed: both, reports: allRunning }).observed).toEqual({ readyReplicas: 6, currentVersion: '8.2' });
  });

  it.each<[string, string, Situation]>([
    ['Pending', 'nothing is placed', {}],
    ['Progressing', 'a cluster has not got its revision', { placed: both, reports: { 'eu-1': running } }],
    [
      'Progressing',
      'a workload starts',
      { placed: both, reports: { ...allRunning, 'us-1': { phase: 'Progressing' } } },
    ],
    ['Scaling', 'a workload scales', { placed: both, reports: { ...allRunning, 'us-1': { phase: 'Scaling' } } }],
    ['Running', 'all run', { placed: both, reports: allRunning }],
    ['Failed', 'a workload failed', { placed: both, reports: { ...allRunning, 'us-1': { phase: 'Failed' } } }],
    ['Failed', 'a cluster is blocked', { placed: both, reports: { ...allRunning, 'us-1': { state: 'Blocked' } } }],
    ['Failed', 'a cluster is in conflict', { placed: both, reports: { ...allRunning, 'us-1': { state: 'Conflict' } } }],
    ['Running', 'only a withdrawn cluster is left over', { ...runs, before: [placementRow('us-1')] }],
    [
      'Terminating',
      'the object is being deleted',
      { updateRevision: '', before: [placementRow('eu-1')], object: { metadata: { deletionTimestamp: EARLIER } } },
    ],
  ])('is %s when %s', (phase, _, situation) => {
    expect(fold(situation).phase).toBe(phase);
  });

  it('calls a revision current once every cluster has it', () => {
    const object = { status: { currentRevision: 'r1', updateRevision: 'r2' } };
    const reports = { 'eu-1': { targetRevision: 'r2' }, 'us-1': { targetRevision: 'r1' } };
    const half = fold({ placed: both, updateRevision: 'r2', reports, object });
    expect([half.currentRevision, half.updateRevision]).toEqual(['r1', 'r2']);
    const whole = fold({
      placed: both,
      updateRevision: 'r2',
      reports: { ...reports, 'us-1': { targetRevision: 'r2' } },
      object,
    });
    expect([whole.currentRevision, whole.updateRevision]).toEqual(['r2', 'r2']);
  });

  it('names generation, commit, and the request that was handled', () => {
    const annotations = { 'atoll.dev/source-revision': 'main@sha1:abc', 'atoll.dev/requestedAt': 'now' };
    expect(fold({ object: { metadata: { generation: 7, annotations } } })).toMatchObject({
      observedGeneration: 7,
      sourceRevision: 'main@sha1:abc',
      lastHandledReconcileAt: 'now',
    });
  });

  it('of a deleted object withdraws it everywhere, and keeps its revisions', () => {
    const metadata = { deletionTimestamp: EARLIER };
    const object = { metadata, status: { currentRevision: 'r1', updateRevision: 'r1' } };
    const status = fold({ updateRevision: '', before: [placementRow('eu-1'), placementRow('us-1')], object });
    expect(status.placements?.map(({ targetRevision }) => targetRevision)).toEqual(['', '']);
    expect([status.currentRevision, status.updateRevision]).toEqual(['r1', 'r1']);
  });

  it('is the same when it is folded again', () => {
    const reports = { 'eu-1': running, 'us-1': { state: 'Blocked' as const, reason: 'Invalid', message: 'no' } };
    const first = fold({ placed: both, reports });
    const again = fold({ placed: both, reports, object: { status: first } });
    expect(again).toEqual(first);
  });
});
