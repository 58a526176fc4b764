import { describe, expect, it } from 'vitest';
import { gitSource } from '../../../test/support/builders.ts';
import type { GitSource } from '../../api/index.ts';
import { gitSourceEvents } from './git-source-events.ts';
import { gitSourceStatus } from './git-source-status.ts';
import type { SyncOutcome } from './git-source-status.ts';

const synced = (revision: string): SyncOutcome => ({
  kind: 'synced',
  revision,
  result: { applied: 1, pruned: 0, objects: 1, left: [] },
});
const failed = (reason: string, revision?: string, message = 'bad'): SyncOutcome => ({
  kind: 'failed',
  reason,
  message,
  revision,
});
const suspended: SyncOutcome = { kind: 'suspended' };

/** What is told of the last of some looks at a source. */
function told(...outcomes: readonly SyncOutcome[]): string[] {
  let before: GitSource['status'];
  let notes: readonly string[] = [];
  for (const outcome of outcomes) {
    const after: NonNullable<GitSource['status']> = gitSourceStatus(
      gitSource(before === undefined ? {} : { status: before }),
      outcome,
      '2026-01-01T00:00:00Z',
    );
    notes = gitSourceEvents(before, after).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
    before = after;
  }
  return [...notes];
}

describe('what is told of a source', () => {
  it.each<[string, readonly SyncOutcome[], readonly string[]]>([
    ['its first revision', [synced('main@a')], ['Normal RevisionApplied: applied revision main@a']],
    ['nothing of another look', [synced('main@a'), synced('main@a')], []],
    ['a new revision', [synced('main@a'), synced('main@b')], ['Normal RevisionApplied: applied revision main@b']],
    ['a first failure', [failed('Unreachable')], ['Warning Unreachable: bad (nothing is applied)']],
    [
      'a failure',
      [synced('main@a'), failed('InvalidManifests', 'main@b')],
      ['Warning InvalidManifests: bad (kept revision main@a)'],
    ],
    ['nothing of a failure that stays', [failed('Unreachable'), failed('Unreachable')], []],
    [
      'nothing of a failure in other words',
      [failed('InvalidManifests', 'main@b'), failed('InvalidManifests', 'main@b', 'other')],
      [],
    ],
    [
      'a failure of the next revision',
      [failed('InvalidManifests', 'main@b'), failed('InvalidManifests', 'main@c')],
      ['Warning InvalidManifests: bad (nothing is applied)'],
    ],
    [
      'a failure for another reason',
      [failed('Unreachable'), failed('AuthenticationFailed')],
      ['Warning AuthenticationFailed: bad (nothing is applied)'],
    ],
    [
      'that it is in order again',
      [synced('main@a'), failed('Unreachable'), synced('main@a')],
      ['Normal Recovered: in order again, applied revision main@a'],
    ],
    [
      'that a new revision put it in order',
      [synced('main@a'), failed('InvalidManifests', 'main@b'), synced('main@c')],
      ['Normal RevisionApplied: applied revision main@c', 'Normal Recovered: in order again, applied revision main@c'],
    ],
    ['nothing of a suspension', [synced('main@a'), suspended], []],
    ['nothing of its end', [synced('main@a'), suspended, synced('main@a')], []],
  ])('%s', (_, outcomes, expected) => {
    expect(told(...outcomes)).toEqual(expected);
  });
});
