import type { MemberCluster } from '../api/index.ts';
import type { EventNote } from '../events/index.ts';

type Status = MemberCluster['status'];

/** What a person should hear of a member when its status was written: that it became Ready, or why it is not. */
export function memberClusterEvents(before: Status, after: NonNullable<Status>): EventNote[] {
  const was = readyOf(before);
  const is = readyOf(after);
  if (is === undefined || (was?.status === is.status && was.reason === is.reason)) return [];
  if (is.status !== 'True') return [{ type: 'Warning', reason: is.reason, message: is.message }];
  // A UID is recorded when the member was well for the first time.
  const reason = before?.uid === undefined ? 'Engaged' : 'Recovered';
  return [{ type: 'Normal', reason, message: `connected to a cluster of version ${after.version ?? 'unknown'}` }];
}

function readyOf(status: Status): NonNullable<NonNullable<Status>['conditions']>[number] | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}
