import type { GitSource } from '../../api/index.ts';
import type { EventNote } from '../../events/index.ts';

type Status = GitSource['status'];

/**
 * What a person should hear of a source when its status was written: a revision that was applied, why one was not, and
 * that all is well again. A failure is told again for another reason, or for another revision.
 */
export function gitSourceEvents(before: Status, after: NonNullable<Status>): EventNote[] {
  return [...appliedEvents(before, after), ...readyEvents(before, after)];
}

function appliedEvents(before: Status, { appliedRevision }: NonNullable<Status>): EventNote[] {
  if (appliedRevision === undefined || appliedRevision === before?.appliedRevision) return [];
  return [{ type: 'Normal', reason: 'RevisionApplied', message: `applied revision ${appliedRevision}` }];
}

function readyEvents(before: Status, after: NonNullable<Status>): EventNote[] {
  const was = readyOf(before);
  const is = readyOf(after);
  if (is?.status === 'True' && was?.status === 'False') {
    return [{ type: 'Normal', reason: 'Recovered', message: `in order again, ${is.message}` }];
  }
  if (is?.status !== 'False') return [];
  const isKnown = isSameFailure(was, is) && before?.attemptedRevision === after.attemptedRevision;
  return isKnown ? [] : [{ type: 'Warning', reason: is.reason, message: is.message }];
}

function isSameFailure(was: Ready | undefined, is: Ready): boolean {
  return was?.status === is.status && was.reason === is.reason;
}

type Ready = NonNullable<NonNullable<Status>['conditions']>[number];

function readyOf(status: Status): Ready | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}
