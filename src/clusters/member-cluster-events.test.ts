import { describe, expect, it } from 'vitest';
import { memberCluster } from '../../test/support/builders.ts';
import type { MemberCluster } from '../api/index.ts';
import { UnauthorizedError, UnreachableError } from '../kubernetes/index.ts';
import { IdentityChangedError } from './engagement.ts';
import { memberClusterEvents } from './member-cluster-events.ts';
import { memberClusterStatus } from './member-cluster-status.ts';
import type { Observation } from './member-cluster-status.ts';

const well: Observation = { kind: 'ready', version: 'v1.37.2', uid: 'uid' };
const failed = (error: Error): Observation => ({ kind: 'failed', error });
const unreachable = failed(new UnreachableError('no answer', 'TIMEOUT'));

/** What is told of the last of some looks at a member, each by a replica of its own. */
function told(...observations: readonly Observation[]): string[] {
  let before: MemberCluster['status'];
  let notes: readonly string[] = [];
  for (const [index, observation] of observations.entries()) {
    const member = memberCluster('eu-1', {}, before === undefined ? {} : { status: before });
    const observer = { replica: `replica-${index}`, now: '2026-01-01T00:00:00Z' };
    const after: NonNullable<MemberCluster['status']> = memberClusterStatus(member, observation, observer);
    notes = memberClusterEvents(before, after).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
    before = after;
  }
  return [...notes];
}

describe('what is told of a member', () => {
  it.each<[string, readonly Observation[], readonly string[]]>([
    ['that it was engaged', [well], ['Normal Engaged: connected to a cluster of version v1.37.2']],
    ['nothing when another replica engages it', [well, well], []],
    ['nothing of another version', [well, { ...well, version: 'v1.38.0' }], []],
    ['that it is lost', [well, unreachable], ['Warning Unreachable: no answer']],
    ['nothing while it stays lost', [well, unreachable, unreachable], []],
    [
      'that its credentials are refused now',
      [well, unreachable, failed(new UnauthorizedError('who are you?'))],
      ['Warning Unauthorized: who are you?'],
    ],
    ['that it is back', [well, unreachable, well], ['Normal Recovered: connected to a cluster of version v1.37.2']],
    [
      'that it was engaged after all',
      [unreachable, well],
      ['Normal Engaged: connected to a cluster of version v1.37.2'],
    ],
  ])('%s', (_, observations, expected) => {
    expect(told(...observations)).toEqual(expected);
  });

  it('that another cluster answers under its name', () => {
    expect(told(well, failed(new IdentityChangedError('another')))).toEqual(['Warning IdentityChanged: another']);
  });
});
