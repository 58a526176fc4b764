import type { FederatedObject, PlacementRow } from '../api/index.ts';
import type { ConditionDraft } from '../kernel/index.ts';
import type { PlacementDecision } from './placement.ts';

/** The status without the conditions. */
export type StatusWithoutConditions = Omit<NonNullable<FederatedObject['status']>, 'conditions'>;

type Draft = Omit<ConditionDraft, 'observedGeneration'>;

/**
 * The conditions of a federated object. Ready, Available, Progressing and Degraded are always there; Reconciling and
 * Stalled only while True, as kstatus reads them, and so is FieldsLeft.
 */
export function federatedConditions(
  object: FederatedObject,
  status: StatusWithoutConditions,
  decisions: readonly PlacementDecision[],
): readonly ConditionDraft[] {
  const rows = status.placements ?? [];
  const summary = summarize(object, status, decisions);
  const drafts: Draft[] = [
    { type: 'Ready', status: summary.ready ? 'True' : 'False', reason: summary.reason, message: summary.message },
    available(status),
    ...progress(object, rows, summary),
    degraded(rows),
    ...fieldsLeft(rows),
  ];
  const observedGeneration = status.observedGeneration;
  return drafts.map((draft) => ({ ...draft, observedGeneration }));
}

/** Progressing, and Reconciling or Stalled while they are True. Something moves although elsewhere something is stuck. */
function progress(object: FederatedObject, rows: readonly PlacementRow[], { reason, message }: Summary): Draft[] {
  if (object.metadata.deletionTimestamp !== undefined) return moving(reason, message);
  const changing = object.spec.suspend ? [] : rows.filter((row) => isChanging(row));
  if (changing.length > 0) return moving('Progressing', describeRows(changing));
  const settled: Draft = { type: 'Progressing', status: 'False', reason: 'Settled', message: '' };
  return reason === 'NoClusters' ? [settled, { type: 'Stalled', status: 'True', reason, message }] : [settled];
}

function moving(reason: string, message: string): Draft[] {
  return ['Progressing', 'Reconciling'].map((type) => ({ type, status: 'True', reason, message }));
}

/** Whether a row will change by itself. */
function isChanging({ state, phase }: PlacementRow): boolean {
  return state === 'OutOfDate' || (state === 'Synced' && phase !== 'Running' && phase !== 'Failed');
}

function degraded(rows: readonly PlacementRow[]): Draft {
  const unwell = rows.filter((row) => isUnwell(row));
  const [first] = unwell;
  if (first === undefined) return { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' };
  return { type: 'Degraded', status: 'True', reason: reasonOf(first), message: describeRows(unwell) };
}

/** What a row in sync says of it when not every field is as Git has it; the first is the one to look at first. */
const EXCEPTIONS: readonly string[] = ['FieldsFlipping', 'FieldsLeft', 'FieldsRewritten', 'NotUpdated'];

/** Only while some cluster has fields that are not as Git has them, and are right so. */
function fieldsLeft(rows: readonly PlacementRow[]): Draft[] {
  const excepted = rows.filter(({ reason = '' }) => EXCEPTIONS.includes(reason));
  const reason = EXCEPTIONS.find((exception) => excepted.some((row) => row.reason === exception));
  return reason === undefined ? [] : [{ type: 'FieldsLeft', status: 'True', reason, message: describeRows(excepted) }];
}

/** Whether somebody has to do something about a row. */
function isUnwell({ state, phase }: PlacementRow): boolean {
  return state === 'Blocked' || state === 'Conflict' || phase === 'Failed';
}

interface Summary {
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
}

function summarize(
  object: FederatedObject,
  status: StatusWithoutConditions,
  decisions: readonly PlacementDecision[],
): Summary {
  const rows = status.placements ?? [];
  const waiting = rows.filter((row) => !(row.state === 'Synced' && row.phase === 'Running'));
  if (object.metadata.deletionTimestamp !== undefined) {
    return { ready: false, reason: 'Terminating', message: `to be removed from ${listClusters(rows)}` };
  }
  const unknown = decisions.filter(({ reason }) => reason === 'UnknownCluster').map(({ cluster }) => cluster);
  if (unknown.length > 0) {
    return { ready: false, reason: 'UnknownCluster', message: `no MemberCluster is named ${quoted(unknown)}` };
  }
  if (status.clusters?.desired === 0 && rows.length === 0) {
    return { ready: false, reason: 'NoClusters', message: 'the placement selects no cluster' };
  }
  if (object.spec.suspend) return { ready: waiting.length === 0, reason: 'Suspended', message: 'spec.suspend is set' };
  if (waiting.length === 0) return { ready: true, reason: 'Ready', message: `ready in ${listClusters(rows)}` };
  const stuck = waiting.find((row) => isUnwell(row) || row.state === 'Unknown');
  return {
    ready: false,
    reason: stuck === undefined ? 'Progressing' : reasonOf(stuck),
    message: describeRows(waiting),
  };
}

/** Available: every placed cluster serves, be it an older revision while a newer one is on its way. */
function available(status: StatusWithoutConditions): Draft {
  const rows = (status.placements ?? []).filter((row) => row.targetRevision !== '');
  const serving = rows.filter((row) => row.phase === 'Running' && row.state !== 'Unknown');
  if (rows.length > 0 && serving.length === rows.length) {
    return { type: 'Available', status: 'True', reason: 'Available', message: `serving in ${listClusters(rows)}` };
  }
  const missing = rows.filter((row) => !serving.includes(row));
  const message = rows.length === 0 ? 'placed in no cluster' : `not serving in ${listClusters(missing)}`;
  return { type: 'Available', status: 'False', reason: 'NotAvailable', message };
}

function reasonOf(row: PlacementRow): string {
  if (row.state === 'Synced' && row.phase === 'Failed') return 'WorkloadFailed';
  return row.reason === undefined || row.reason === '' ? row.state : row.reason;
}

function describeRows(rows: readonly PlacementRow[]): string {
  return rows
    .map((row) => `${row.cluster}: ${row.message === undefined || row.message === '' ? shortly(row) : row.message}`)
    .join('; ');
}

/** A row without a message in one word: of a revision that has arrived, how its workload does. */
function shortly(row: PlacementRow): string {
  return row.state === 'Synced' && row.phase !== undefined ? row.phase : reasonOf(row);
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(' or ');
}

function listClusters(rows: readonly PlacementRow[]): string {
  return rows.length === 0 ? 'no cluster' : rows.map(({ cluster }) => cluster).join(', ');
}
