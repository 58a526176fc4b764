import type { FederatedObject, PlacementRow } from '../api/index.ts';
import type { EventNote } from '../events/index.ts';
import type { ClusterName } from '../kernel/index.ts';

type Status = FederatedObject['status'];

/** A row as it is written, and as it was before. */
interface Change {
  readonly row: PlacementRow;
  readonly was: PlacementRow | undefined;
}

/** What holds of some clusters at once. */
interface Told {
  readonly cluster: ClusterName;
  readonly type: EventNote['type'];
  readonly reason: string;
  /** Completes the sentence that begins with the clusters. */
  readonly says: string;
}

/**
 * What a person should hear of a federated object when its status was written. One event for all clusters of which the
 * same is to be told. That a cluster is not being watched, or is again, its MemberCluster tells for all objects.
 *
 * @param isMember whether a cluster has a MemberCluster: of one that has none (any more) nothing was removed
 */
export function federatedEvents(
  before: Status,
  after: NonNullable<Status>,
  isMember: (cluster: ClusterName) => boolean,
): EventNote[] {
  const was = new Map((before?.placements ?? []).map((row) => [row.cluster, row]));
  const rows = after.placements ?? [];
  const present = new Set(rows.map(({ cluster }) => cluster));
  const gone = [...was.keys()].filter((cluster) => !present.has(cluster));
  return together([
    ...rows.flatMap((row) => changeOf({ row, was: was.get(row.cluster) })),
    ...gone.map((cluster) => departure(cluster, isMember(cluster))),
  ]);
}

function changeOf(change: Change): Told[] {
  const { cluster, targetRevision, state, message = '' } = change.row;
  if (isWithdrawalBegun(change)) return [{ cluster, type: 'Normal', reason: 'Withdrawing', says: 'to be removed' }];
  if (isArrival(change)) {
    return [{ cluster, type: 'Normal', reason: 'ClusterSynced', says: `has revision ${targetRevision}` }];
  }
  return isNewTrouble(change) ? [{ cluster, type: 'Warning', reason: `Cluster${state}`, says: message }] : [];
}

function isWithdrawalBegun({ row, was }: Change): boolean {
  return row.targetRevision === '' && was !== undefined && was.targetRevision !== '';
}

function isNewTrouble({ row, was }: Change): boolean {
  if (row.state !== 'Conflict' && row.state !== 'Blocked') return false;
  return was?.state !== row.state || was.reason !== row.reason || was.targetRevision !== row.targetRevision;
}

/** A cluster that was not watched for a while had its revision before, most likely, and others with it. */
function isArrival({ row, was }: Change): boolean {
  if (row.state !== 'Synced' || row.targetRevision === '') return false;
  if (was === undefined || was.targetRevision !== row.targetRevision) return true;
  return was.state !== 'Synced' && was.state !== 'Unknown';
}

function departure(cluster: ClusterName, isMember: boolean): Told {
  return isMember
    ? { cluster, type: 'Normal', reason: 'Withdrawn', says: 'withdrawn' }
    : { cluster, type: 'Warning', reason: 'ClusterLeft', says: 'no longer a member, and left as it is' };
}

function together(told: readonly Told[]): EventNote[] {
  const groups = Map.groupBy(told, ({ reason, says }) => JSON.stringify([reason, says]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const clusters = group.map(({ cluster }) => cluster).toSorted();
    return [{ type: first.type, reason: first.reason, message: `${clusters.join(', ')}: ${first.says}` }];
  });
}
