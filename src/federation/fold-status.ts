import type { FederatedObject, PlacementRow } from '../api/index.ts';
import { compact, mergeConditions, requestedAt } from '../kernel/index.ts';
import type { ClusterName } from '../kernel/index.ts';
import { federatedConditions } from './federated-conditions.ts';
import type { StatusWithoutConditions } from './federated-conditions.ts';
import type { PlacementDecision } from './placement.ts';
import { SOURCE_REVISION_ANNOTATION } from './source-revision.ts';
import type { StatusRow } from './status-rows.ts';

/** What is known of a member beside its rows. */
export interface MemberState {
  readonly ready: boolean;
  readonly reason: string;
}

/** Everything that the status of a federated object is made of. */
export interface FoldInput {
  readonly object: FederatedObject;
  readonly decisions: readonly PlacementDecision[];
  /** Revision that every placed cluster shall have; empty while the object is being deleted. */
  readonly updateRevision: string;
  readonly rows: ReadonlyMap<ClusterName, StatusRow>;
  readonly members: ReadonlyMap<ClusterName, MemberState>;
  /** RFC 3339. */
  readonly now: string;
}

/**
 * Folds the members' reports into the status of the federated object. Pure. Rows keep their times while nothing of
 * them changes; a report that is missing keeps what the hub showed last; a member that is not watched is Unknown.
 */
export function foldStatus(input: FoldInput): NonNullable<FederatedObject['status']> {
  const { object, now } = input;
  const before = object.status;
  const placements = foldRows(input);
  const desired = placements.filter((row) => row.targetRevision !== '');
  const clusters = countClusters(desired);
  const settled = clusters.synced === placements.length && input.updateRevision !== '';
  const status = compact<StatusWithoutConditions>({
    observedGeneration: object.metadata.generation ?? 0,
    phase: phaseOf(object, desired),
    sourceRevision: object.metadata.annotations?.[SOURCE_REVISION_ANNOTATION],
    currentRevision: settled ? input.updateRevision : before?.currentRevision,
    updateRevision: input.updateRevision === '' ? before?.updateRevision : input.updateRevision,
    clusters,
    observed: sumObserved(desired),
    placements,
    lastHandledReconcileAt: requestedAt(object),
  });
  const conditions = federatedConditions(object, status, input.decisions);
  return { ...status, conditions: mergeConditions(before?.conditions, conditions, now) };
}

/** A row for every placed cluster, and for every cluster that has the object though it is not placed there (any more). */
function foldRows(input: FoldInput): PlacementRow[] {
  const recorded = new Map((input.object.status?.placements ?? []).map((row) => [row.cluster, row]));
  return [...targetsOf(input, recorded)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, target]) =>
      keepTimes(foldRow(input, name, target, recorded.get(name)), recorded.get(name), input.now),
    );
}

/** The revision that each cluster shall have; empty where the object is withdrawn. */
function targetsOf(
  { decisions, members, rows, updateRevision }: FoldInput,
  recorded: ReadonlyMap<ClusterName, PlacementRow>,
): ReadonlyMap<ClusterName, string> {
  const placed = new Set(decisions.filter(({ placed: is }) => is).map(({ cluster }) => cluster));
  // A worker may have applied what was withdrawn at that moment: its report tells that the cluster has it.
  const leftover = [...rows].filter(([, row]) => row.state !== 'Removed').map(([name]) => name);
  const withdrawn = [...recorded.keys(), ...leftover].filter(
    (name) => !placed.has(name) && members.has(name) && rows.get(name)?.state !== 'Removed',
  );
  // Without a revision, what a placed cluster shall have stays as it is recorded: it is never a withdrawal.
  const wanted = [...placed].map((name): [ClusterName, string | undefined] => [
    name,
    updateRevision === '' ? recorded.get(name)?.targetRevision : updateRevision,
  ]);
  return new Map([
    ...wanted.filter((entry): entry is [ClusterName, string] => entry[1] !== undefined),
    ...withdrawn.map((name): [ClusterName, string] => [name, '']),
  ]);
}

type UntimedRow = Omit<PlacementRow, 'lastTransitionTime' | 'lastSuccessTime'>;

function foldRow(input: FoldInput, cluster: ClusterName, target: string, before: PlacementRow | undefined): UntimedRow {
  const report = input.rows.get(cluster);
  const verdict =
    unwatched(input.members.get(cluster)) ??
    reported(report, target) ??
    (report === undefined ? kept(before, target) : undefined);
  const pending = { state: 'OutOfDate' as const, reason: target === '' ? 'Withdrawing' : 'Pending', message: '' };
  return { cluster, targetRevision: target, ...lastShown(report, before), ...(verdict ?? pending) };
}

type Verdict = Pick<UntimedRow, 'state' | 'reason' | 'message'>;

/** A cluster that is not being watched is Unknown, whatever was reported before. */
function unwatched(member: MemberState | undefined): Verdict | undefined {
  if (member?.ready === true) return undefined;
  const reason = member?.reason ?? 'UnknownCluster';
  return { state: 'Unknown', reason, message: 'the cluster is not being watched' };
}

/** What the cluster's worker said, when it is about the revision that is wanted. */
function reported(report: StatusRow | undefined, target: string): Verdict | undefined {
  if (report?.targetRevision !== target || report.state === 'Removed') return undefined;
  return { state: report.state, reason: report.reason, message: report.message.slice(0, 256) };
}

/** Without a report: what the hub showed last, unless it was only that the cluster was not watched. */
function kept(before: PlacementRow | undefined, target: string): Verdict | undefined {
  if (before?.targetRevision !== target || before.state === 'Unknown') return undefined;
  return compact<Verdict>({ state: before.state, reason: before.reason, message: before.message });
}

/** Phase and figures: the newest report's, else those that the hub showed last. */
function lastShown(
  report: StatusRow | undefined,
  before: PlacementRow | undefined,
): Pick<UntimedRow, 'phase' | 'observed'> {
  return compact<Pick<UntimedRow, 'phase' | 'observed'>>({
    phase: report?.phase ?? before?.phase,
    observed: report?.observed ?? before?.observed,
  });
}

/** `lastTransitionTime`: when state or target changed; `lastSuccessTime`: when it last became Synced at its target. */
function keepTimes(row: UntimedRow, before: PlacementRow | undefined, now: string): PlacementRow {
  const same = before?.state === row.state && before.targetRevision === row.targetRevision;
  const lastTransitionTime = (same ? before.lastTransitionTime : undefined) ?? now;
  const lastSuccessTime = row.state === 'Synced' && !same ? now : before?.lastSuccessTime;
  return { ...row, lastTransitionTime, ...(lastSuccessTime === undefined ? {} : { lastSuccessTime }) };
}

/** Whether a row is where it shall be and its workload is well. */
function isReady(row: Pick<PlacementRow, 'state' | 'phase'>): boolean {
  return row.state === 'Synced' && row.phase === 'Running';
}

function countClusters(desired: readonly PlacementRow[]): NonNullable<StatusWithoutConditions['clusters']> {
  const ready = desired.filter((row) => isReady(row)).length;
  const synced = desired.filter((row) => row.state === 'Synced').length;
  return { desired: desired.length, synced, ready, summary: `${ready}/${desired.length}` };
}

/** Numbers are summed over the clusters; texts are shown when all agree, else all of them, sorted. */
function sumObserved(desired: readonly PlacementRow[]): Record<string, string | number> {
  const fields = new Set(desired.flatMap((row) => Object.keys(row.observed ?? {})));
  return Object.fromEntries(
    [...fields].toSorted().map((field) => {
      const values = desired.map((row) => row.observed?.[field]).filter((value) => value !== undefined);
      const numbers = values.filter((value) => typeof value === 'number');
      if (numbers.length === values.length) return [field, numbers.reduce((sum, value) => sum + value, 0)];
      return [field, [...new Set(values.map(String))].toSorted().join(', ')];
    }),
  );
}

function phaseOf(
  object: FederatedObject,
  desired: readonly PlacementRow[],
): NonNullable<StatusWithoutConditions['phase']> {
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (desired.length === 0) return 'Pending';
  if (desired.some((row) => row.state === 'Blocked' || row.state === 'Conflict' || row.phase === 'Failed'))
    return 'Failed';
  if (desired.every((row) => isReady(row))) return 'Running';
  if (desired.some((row) => row.state === 'Synced' && row.phase === 'Scaling')) return 'Scaling';
  return 'Progressing';
}
