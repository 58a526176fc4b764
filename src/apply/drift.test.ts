import { describe, expect, it } from 'vitest';
import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import type { FieldConflict } from '../kubernetes/index.ts';
import { areDrift, INTERACTIVE_MANAGERS, isHeldByDriftOnly } from './drift.ts';
import { withHash } from './in-sync.ts';

const BEFORE = '2026-01-01T00:00:00Z';
const APPLIED = '2026-01-01T00:00:10Z';
const AFTER = '2026-01-01T00:00:20Z';

const REPLICAS = { 'f:spec': { 'f:replicas': {} } };

function deployment(replicas: number): KubernetesObject {
  return withHash({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas } });
}

function liveWith(applied: KubernetesObject, rival: ManagedFieldsEntry): KubernetesObject {
  const ours = { manager: 'atoll', operation: 'Apply', apiVersion: 'apps/v1', time: APPLIED, fieldsV1: {} } as const;
  return { ...applied, metadata: { ...applied.metadata, managedFields: [ours, rival] } };
}

const edit: ManagedFieldsEntry = {
  manager: 'kubectl-edit',
  operation: 'Update',
  apiVersion: 'apps/v1',
  time: AFTER,
  fieldsV1: REPLICAS,
};

interface Case {
  readonly rival: ManagedFieldsEntry;
  /** What was applied last; the same as wanted now, unless said otherwise. */
  readonly applied?: KubernetesObject;
}

const cases: readonly (readonly [string, boolean, Case])[] = [
  ['an edit by kubectl', true, { rival: edit }],
  ['an edit by plain kubectl', true, { rival: { ...edit, manager: 'kubectl' } }],
  ['an edit after our last apply of something else', true, { rival: edit, applied: deployment(2) }],
  [
    'an edit before our last apply of something else',
    false,
    { rival: { ...edit, time: BEFORE }, applied: deployment(2) },
  ],
  ['an apply by kubectl', false, { rival: { ...edit, manager: 'kubectl', operation: 'Apply' } }],
  ['kubectl scale', false, { rival: { ...edit, manager: 'kubectl', subresource: 'scale' } }],
  ['a controller', false, { rival: { ...edit, manager: 'kube-controller-manager' } }],
  ['a manager whose name only looks like kubectl', false, { rival: { ...edit, manager: 'kubectlish' } }],
];

describe.each(cases)('%s', (_, drift, { rival, applied }) => {
  const body = deployment(3);
  const live = liveWith(applied ?? body, rival);
  const evidence = { body, live, fieldManager: 'atoll', interactiveManagers: INTERACTIVE_MANAGERS };

  it(`is ${drift ? '' : 'not '}drift before an apply`, () => {
    expect(isHeldByDriftOnly(evidence)).toBe(drift);
  });

  it(`is ${drift ? '' : 'not '}drift after a refused apply`, () => {
    const { manager = '', operation, subresource } = rival;
    const conflict = { manager, path: '.spec.replicas', operation, subresource } as FieldConflict;
    expect(areDrift([conflict], evidence)).toBe(drift);
  });
});

describe('drift', () => {
  const body = deployment(3);
  const evidenceWith = (live: KubernetesObject): Parameters<typeof areDrift>[1] => ({
    body,
    live,
    fieldManager: 'atoll',
    interactiveManagers: INTERACTIVE_MANAGERS,
  });

  it('is not assumed when nobody else holds what we want', () => {
    const labels = { ...edit, fieldsV1: { 'f:metadata': { 'f:labels': { 'f:foreign': {} } } } };
    expect(isHeldByDriftOnly(evidenceWith(liveWith(body, labels)))).toBe(false);
  });

  it('does not cover a conflict with a manager that the object does not name', () => {
    const conflict: FieldConflict = { manager: 'kubectl-edit', path: '.spec.replicas' };
    const live = liveWith(body, { ...edit, manager: 'kubectl-patch' });
    expect(areDrift([conflict], evidenceWith(live))).toBe(false);
  });

  it('covers fields whose ownership was wiped, on an object that we applied before', () => {
    const conflict: FieldConflict = { manager: 'before-first-apply', operation: 'Update', path: '.spec.replicas' };
    expect(areDrift([conflict], evidenceWith(body))).toBe(true);
    const unapplied = { ...body, metadata: { name: 'web' } };
    expect(areDrift([conflict], evidenceWith(unapplied))).toBe(false);
  });

  it('is not the whole story when one of two conflicts is with a controller', () => {
    const conflicts: FieldConflict[] = [
      { manager: 'kubectl-edit', operation: 'Update', path: '.spec.replicas' },
      { manager: 'hpa', operation: 'Apply', path: '.spec.replicas' },
    ];
    expect(areDrift(conflicts, evidenceWith(liveWith(body, edit)))).toBe(false);
  });
});
