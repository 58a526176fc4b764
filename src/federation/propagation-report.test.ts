import { describe, expect, it } from 'vitest';
import { placementRow } from '../../test/support/builders.ts';
import type { PlacementRow } from '../api/index.ts';
import type { AppliedOutcome, ApplyOutcome } from '../apply/index.ts';
import { WaitingError } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import {
  ConflictError,
  ForbiddenError,
  InvalidError,
  KindNotFoundError,
  NamespaceTerminatingError,
  UnknownFieldError,
  UnreachableError,
  UnsendableError,
  WebhookUnavailableError,
} from '../kubernetes/index.ts';
import { OverrideError } from '../manifests/index.ts';
import { isShown, reportOf, reportOfError } from './propagation-report.ts';
import type { StatusRow } from './status-rows.ts';

function memberObject(status?: Readonly<Record<string, unknown>>): KubernetesObject {
  const object = {
    apiVersion: 'workloads.atoll.dev/v1',
    kind: 'RedisCluster',
    metadata: { name: 'sessions', generation: 2 },
  };
  return { ...object, ...(status !== undefined && { status }) };
}

function applied(status?: Readonly<Record<string, unknown>>, exceptions: Partial<AppliedOutcome> = {}): AppliedOutcome {
  return { result: 'unchanged', object: memberObject(status), left: [], rewritten: [], taken: [], ...exceptions };
}

const scaled = { path: '.spec.replicas', manager: 'kube-controller-manager', subresource: 'scale' };

describe('what is reported of an apply', () => {
  it.each<[string, ApplyOutcome, Partial<StatusRow>]>([
    [
      'an object without a status is on its way',
      applied(),
      { state: 'Synced', reason: 'Synced', message: '', phase: 'Progressing' },
    ],
    [
      'an object whose controller saw it shows its phase',
      applied({ observedGeneration: 2, phase: 'Running' }),
      { phase: 'Running' },
    ],
    [
      'an object that is not well says why in its own words',
      applied({ observedGeneration: 2, phase: 'Degraded', message: 'Some replicas are not ready.' }),
      { state: 'Synced', phase: 'Degraded', message: 'Some replicas are not ready.' },
    ],
    [
      'an object whose controller has seen an older generation is on its way, whatever its phase',
      applied({ observedGeneration: 1, phase: 'Running', message: 'of old', readyReplicas: 3 }),
      { phase: 'Progressing', message: '', observed: { readyReplicas: 3 } },
    ],
    [
      'the figures that the hub shows are reported, and no others',
      applied({
        observedGeneration: 2,
        phase: 'Running',
        readyReplicas: 3,
        currentVersion: '8.2',
        replicas: 3,
        other: 'x',
      }),
      { observed: { readyReplicas: 3, currentVersion: '8.2' } },
    ],
    [
      'an object that is not ours is a conflict',
      { result: 'foreign', message: 'exists already' },
      { state: 'Conflict', reason: 'NotOurs', message: 'exists already' },
    ],
    [
      'fields that others hold fast block',
      { result: 'blocked', held: [], message: '.spec.args (someone)' },
      { state: 'Blocked', reason: 'FieldManagerConflict', message: '.spec.args (someone)' },
    ],
    [
      'an object that is made anew is on its way',
      { result: 'recreating', message: 'spec.selector cannot be changed' },
      { state: 'OutOfDate', reason: 'Recreating', message: 'spec.selector cannot be changed' },
    ],
    [
      'fields that are left to others are named after what the object says',
      applied(
        { observedGeneration: 2, phase: 'Running', message: 'busy' },
        { left: [{ ...scaled, why: 'autoscaler' }] },
      ),
      {
        state: 'Synced',
        reason: 'FieldsLeft',
        message: 'busy; left to others: .spec.replicas (kube-controller-manager through scale)',
      },
    ],
    [
      'a field that goes back and forth comes before the others',
      applied(undefined, {
        left: [
          { ...scaled, why: 'scale' },
          { path: '.spec.a', manager: 'kubectl-edit', why: 'flipping' },
        ],
      }),
      { reason: 'FieldsFlipping', message: expect.stringContaining('.spec.a (kubectl-edit, flipping)') as string },
    ],
    [
      'fields that admission rewrites are named',
      applied(undefined, { rewritten: ['.spec.b', '.spec.a'] }),
      { reason: 'FieldsRewritten', message: 'rewritten by admission: .spec.a, .spec.b' },
    ],
    [
      'an object that is never updated says so when it is not what is wanted',
      applied(undefined, { outdated: true }),
      { state: 'Synced', reason: 'NotUpdated' },
    ],
  ])('%s', (_, outcome, expected) => {
    expect(reportOf(outcome, 'r1')).toMatchObject({ targetRevision: 'r1', ...expected });
  });

  it('figures that are no figures are not reported', () => {
    expect(reportOf(applied({ readyReplicas: { a: 1 } }), 'r1')).not.toHaveProperty('observed');
  });
});

describe('what is reported of an error', () => {
  const gvk = { group: 'workloads.atoll.dev', version: 'v1', kind: 'RedisCluster' };
  const override = new OverrideError({ override: 'eu', operation: 0, path: '/spec/x' }, 'is not there');

  it.each<[Error, string, number | undefined]>([
    [override, 'OverrideFailed', undefined],
    [new InvalidError('spec.replicas: too many', []), 'Invalid', undefined],
    [new UnknownFieldError('.spec.foo: field not declared'), 'Invalid', undefined],
    [new ForbiddenError('may not'), 'Forbidden', 60_000],
    [new NamespaceTerminatingError('is being deleted'), 'NamespaceTerminating', 5000],
    [new WebhookUnavailableError('failed calling webhook'), 'WebhookUnavailable', 5000],
    [new UnsendableError('is 2.00 MiB'), 'Invalid', undefined],
    [new KindNotFoundError('no such kind', gvk), 'KindNotFound', 30_000],
  ])('%s blocks', (error, reason, retryAfter) => {
    const row = { targetRevision: 'r1', state: 'Blocked', reason, message: error.message };
    expect(reportOfError(error, 'r1')).toEqual({ row, retryAfter });
  });

  it.each<[Error]>([
    [new UnreachableError('no answer', 'ECONNREFUSED')],
    [new ConflictError('changed')],
    [new WaitingError('not yet')],
    [new Error('anything else')],
  ])('%s passes, and is not shown', (error) => {
    expect(reportOfError(error, 'r1')).toBeUndefined();
  });

  it('a long message is cut where the hub would cut it', () => {
    expect(reportOfError(new InvalidError('x'.repeat(1000), []), 'r1')?.row.message).toBe('x'.repeat(256));
    expect(reportOf({ result: 'foreign', message: 'x'.repeat(1000) }, 'r1').message).toBe('x'.repeat(256));
  });
});

describe('a report is shown', () => {
  const report: StatusRow = {
    targetRevision: 'r1',
    state: 'Synced',
    reason: 'Synced',
    message: '',
    phase: 'Running',
    observed: { readyReplicas: 3 },
  };
  const shown = placementRow('eu-1', { observed: { readyReplicas: 3 } });

  it.each<[string, StatusRow, PlacementRow | undefined, boolean]>([
    ['when the row says the same', report, shown, true],
    [
      'when it has none, and the row has',
      blockedReport(),
      placementRow('eu-1', { state: 'Blocked', reason: 'Invalid', message: 'no' }),
      true,
    ],
    ['not when there is no row', report, undefined, false],
    ['not when the row is about another revision', report, { ...shown, targetRevision: 'r2' }, false],
    ['not when the state differs', report, { ...shown, state: 'Unknown' }, false],
    ['not when the reason differs', report, { ...shown, reason: 'Other' }, false],
    ['not when the message differs', report, { ...shown, message: 'other' }, false],
    ['not when the phase differs', report, { ...shown, phase: 'Scaling' }, false],
    ['not when a figure differs', report, { ...shown, observed: { readyReplicas: 2 } }, false],
    [
      'not when the object is gone from a cluster that has a row',
      removedReport(),
      placementRow('eu-1', { targetRevision: '' }),
      false,
    ],
  ])('%s', (_, row, recorded, expected) => {
    expect(isShown(row, recorded)).toBe(expected);
  });
});

function blockedReport(): StatusRow {
  return { targetRevision: 'r1', state: 'Blocked', reason: 'Invalid', message: 'no' };
}

function removedReport(): StatusRow {
  return { targetRevision: '', state: 'Removed', reason: 'Removed', message: '' };
}
