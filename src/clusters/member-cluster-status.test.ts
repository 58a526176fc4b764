import { describe, expect, it } from 'vitest';
import { memberCluster } from '../../test/support/builders.ts';
import type { MemberCluster } from '../api/index.ts';
import { WaitingError } from '../kernel/index.ts';
import { ForbiddenError, KubeconfigError, UnauthorizedError, UnreachableError } from '../kubernetes/index.ts';
import { IdentityChangedError, NotWatchedError } from './engagement.ts';
import { memberClusterStatus } from './member-cluster-status.ts';
import type { Observation } from './member-cluster-status.ts';

const EARLIER = '2026-01-01T00:00:00Z';
const NOW = '2026-01-01T01:00:00Z';
const observer = { replica: 'atoll-0', now: NOW };
const well: Observation = { kind: 'ready', version: 'v1.37.2', uid: 'kube-system-uid' };

type Status = NonNullable<MemberCluster['status']>;

function look(observation: Observation, before?: Status, metadata = {}): Status {
  const member = memberCluster('eu-1', {}, { metadata, ...(before !== undefined && { status: before }) });
  return memberClusterStatus(member, observation, observer);
}

function failed(error: unknown): Observation {
  return { kind: 'failed', error };
}

/** "True/Reason" by type. */
function brief(status: Status): Record<string, string> {
  const entries = (status.conditions ?? []).map(({ type, status: is, reason }) => [type, `${is}/${reason}`]);
  return Object.fromEntries(entries) as Record<string, string>;
}

const allTrue = {
  Ready: 'True/Ready',
  Reachable: 'True/Reachable',
  Authorized: 'True/Authorized',
  IdentityKnown: 'True/SameCluster',
};
const notChecked = {
  Reachable: 'Unknown/NotChecked',
  Authorized: 'Unknown/NotChecked',
  IdentityKnown: 'Unknown/NotChecked',
};

describe('the status of a member', () => {
  it('that is well says so, with version, UID and who looked', () => {
    const status = look(well, undefined, { generation: 3 });
    expect(brief(status)).toEqual(allTrue);
    expect(status).toMatchObject({
      version: 'v1.37.2',
      uid: 'kube-system-uid',
      owner: 'atoll-0',
      observedGeneration: 3,
    });
    for (const { observedGeneration } of status.conditions ?? []) expect(observedGeneration).toBe(3);
  });

  it.each<[string, Error, Record<string, string>]>([
    [
      'with an unusable kubeconfig tells nothing else',
      new KubeconfigError('users[0].user.exec', 'is refused'),
      { Ready: 'False/InvalidKubeconfig', ...notChecked },
    ],
    [
      'that does not answer is unreachable',
      new UnreachableError('no answer', 'ECONNREFUSED'),
      { Ready: 'False/Unreachable', ...notChecked, Reachable: 'False/Unreachable' },
    ],
    [
      'that does not know the credentials is reachable',
      new UnauthorizedError('401'),
      { Ready: 'False/Unauthorized', ...notChecked, Reachable: 'True/Reachable', Authorized: 'False/Unauthorized' },
    ],
    [
      'that grants too few rights is reachable',
      new ForbiddenError('may not get namespaces'),
      { Ready: 'False/Forbidden', ...notChecked, Reachable: 'True/Reachable', Authorized: 'False/Forbidden' },
    ],
    [
      'that is another cluster is reachable and lets us in',
      new IdentityChangedError('another'),
      {
        Ready: 'False/IdentityChanged',
        Reachable: 'True/Reachable',
        Authorized: 'True/Authorized',
        IdentityKnown: 'False/IdentityChanged',
      },
    ],
    [
      'that answers but is not watched is reachable and lets us in',
      new NotWatchedError('heard nothing'),
      { Ready: 'False/NotWatched', ...notChecked, Reachable: 'True/Reachable', Authorized: 'True/Authorized' },
    ],
    [
      'that cannot be engaged for another reason tells nothing else',
      new WaitingError('informers did not sync'),
      { Ready: 'False/EngageFailed', ...notChecked },
    ],
  ])('%s', (_, error, expected) => {
    const status = look(failed(error));
    expect(brief(status)).toEqual(expected);
    expect(status.conditions?.find(({ type }) => type === 'Ready')?.message).toBe(error.message);
  });

  it('keeps version, UID and the known identity of an earlier look', () => {
    const status = look(failed(new UnreachableError('no answer', 'TIMEOUT')), look(well));
    expect(status).toMatchObject({ version: 'v1.37.2', uid: 'kube-system-uid' });
    expect(brief(status)).toMatchObject({ Ready: 'False/Unreachable', IdentityKnown: 'True/SameCluster' });
  });

  it('keeps the recorded UID when another cluster answers', () => {
    const status = look(failed(new IdentityChangedError('another')), look(well));
    expect(status.uid).toBe('kube-system-uid');
    expect(brief(status)).toMatchObject({ IdentityKnown: 'False/IdentityChanged' });
  });

  it('keeps the times of conditions that stay', () => {
    const before = look(well);
    const aged = {
      ...before,
      conditions: (before.conditions ?? []).map((one) => ({ ...one, lastTransitionTime: EARLIER })),
    };
    expect(look(well, aged)).toEqual(aged);
    const times = look(failed(new UnreachableError('no answer', 'TIMEOUT')), aged).conditions;
    const byType = new Map(times?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
    expect(byType.get('Ready')).toBe(NOW);
    expect(byType.get('IdentityKnown')).toBe(EARLIER);
  });

  it('answers a request to look now', () => {
    const status = look(well, undefined, { annotations: { 'atoll.dev/requestedAt': 'now' } });
    expect(status.lastHandledReconcileAt).toBe('now');
    expect(look(well)).not.toHaveProperty('lastHandledReconcileAt');
  });
});
