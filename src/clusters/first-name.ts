import type { MemberCluster } from '../api/index.ts';
import { AtollError } from '../kernel/index.ts';
import type { ClusterName } from '../kernel/index.ts';

/** The cluster is a member under another name already. Nothing was written to it under this one. */
export class AlreadyMemberError extends AtollError {
  override name = 'AlreadyMemberError';
}

/**
 * A cluster is worked under one name, the first in which it was seen: under two, it would have two workers that know
 * nothing of each other, and take back each other's writes without end.
 * @param uid who the cluster of `member` says it is
 * @throws AlreadyMemberError naming the other member
 */
export function refuseSecondName(member: MemberCluster, uid: string, members: readonly MemberCluster[]): void {
  const first = members.find((other) => other.status?.uid === uid && goesBefore(other, member));
  if (first !== undefined) {
    throw new AlreadyMemberError(`the cluster is a member already, as ${nameOf(first)}; one of the two has to go`);
  }
}

/** Whether the other, which was seen to be this cluster, has the cluster: it was seen first, or both were, and it is older. */
function goesBefore(other: MemberCluster, member: MemberCluster): boolean {
  if (nameOf(other) === nameOf(member) || other.metadata.deletionTimestamp !== undefined) return false;
  if (member.status?.uid === undefined) return true;
  return ageOf(other) < ageOf(member);
}

/** Sorts by age, and by name within a second. */
function ageOf(member: MemberCluster): string {
  return `${member.metadata.creationTimestamp ?? ''} ${nameOf(member)}`;
}

function nameOf(member: MemberCluster): ClusterName {
  return member.metadata.name ?? '';
}
