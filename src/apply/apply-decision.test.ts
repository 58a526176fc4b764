import { describe, expect, it } from 'vitest';
import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import type { FieldConflict } from '../kubernetes/index.ts';
import { bodyToCreate, decideApply } from './apply-decision.ts';
import type { Decision } from './apply-decision.ts';
import { APPLIED_HASH_ANNOTATION, wantedObject } from './desired-object.ts';
import { FIELD_MANAGERS } from './field-holders.ts';
import type { IgnoreRule } from './ignore-rules.ts';
import type { DecisionInput } from './leaf-verdict.ts';

const BEFORE = '2026-01-01T00:00:00Z';
const APPLIED = '2026-01-01T00:00:10Z';
const AFTER = '2026-01-01T00:00:20Z';

function deployment(spec: Record<string, unknown> = { replicas: 3, paused: true, args: ['--a'] }): KubernetesObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec };
}

function entry(
  manager: string,
  operation: 'Apply' | 'Update',
  spec: Record<string, unknown>,
  more: Partial<ManagedFieldsEntry> = {},
): ManagedFieldsEntry {
  return { manager, operation, apiVersion: 'apps/v1', time: AFTER, fieldsV1: { 'f:spec': spec }, ...more };
}

/** Ours: the hash annotation and some fields of the spec. */
function ours(...names: string[]): ManagedFieldsEntry {
  const spec = Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
  const metadata = { 'f:annotations': { [`f:${APPLIED_HASH_ANNOTATION}`]: {} } };
  return { ...entry('atoll', 'Apply', spec, { time: APPLIED }), fieldsV1: { 'f:metadata': metadata, 'f:spec': spec } };
}

interface Live {
  /** What was applied last; by default what is wanted. */
  readonly applied?: KubernetesObject;
  readonly ignore?: readonly IgnoreRule[];
  readonly spec?: Record<string, unknown>;
  readonly entries: readonly ManagedFieldsEntry[];
}

function decide(live: Live, options: Partial<DecisionInput> = {}, desired = deployment()): Decision {
  const { body } = wantedObject(live.applied ?? desired, live.ignore);
  const spec = { ...(body['spec'] as object), ...live.spec };
  return decideApply({
    wanted: wantedObject(desired, live.ignore),
    live: {
      ...body,
      spec,
      metadata: { ...body.metadata, uid: 'u', resourceVersion: '7', managedFields: live.entries },
    },
    fieldManager: 'atoll',
    managers: FIELD_MANAGERS,
    force: false,
    adopting: false,
    conflicts: [],
    isFlipping: () => false,
    isUsual: () => false,
    ...options,
  });
}

const PAUSED = { 'f:paused': {} };
const REPLICAS = { 'f:replicas': {} };
const edit = entry('kubectl-edit', 'Update', PAUSED);
const taken = ours('replicas', 'args');
const whole = ours('replicas', 'paused', 'args');
const changed = deployment({ replicas: 3, paused: false, args: ['--a'] });

describe('a field that somebody else holds', () => {
  it.each<[string, string, string, Live]>([
    ['a person who took it', 'apply', 'drift', { entries: [taken, edit] }],
    ['a person who took it from another state', 'apply', 'drift', { entries: [taken, edit], applied: changed }],
    [
      'a person who had it before we wanted it',
      'apply',
      'person',
      { entries: [taken, { ...edit, time: BEFORE }], applied: changed, spec: { paused: false } },
    ],
    ['plain kubectl', 'apply', 'drift', { entries: [taken, { ...edit, manager: 'kubectl' }] }],
    [
      'an apply by kubectl',
      'none',
      'applier',
      { entries: [taken, { ...edit, operation: 'Apply' }], spec: { paused: false } },
    ],
    [
      'a name that only looks like kubectl',
      'none',
      'controller',
      { entries: [taken, { ...edit, manager: 'kubectlish' }], spec: { paused: false } },
    ],
    ['our own name by another operation', 'apply', 'drift', { entries: [taken, { ...edit, manager: 'atoll' }] }],
    [
      'a controller',
      'none',
      'controller',
      { entries: [taken, { ...edit, manager: 'some-controller' }], spec: { paused: false } },
    ],
    [
      'whoever scales',
      'none',
      'scale',
      {
        entries: [ours('paused', 'args'), entry('kubectl', 'Update', REPLICAS, { subresource: 'scale' })],
        spec: { replicas: 7 },
      },
    ],
    [
      'an autoscaler, even where it comes to our number',
      'none',
      'autoscaler',
      { entries: [ours('paused', 'args'), entry('keda-operator', 'Update', REPLICAS)] },
    ],
  ])('by %s: %s, for %s', (_, action, why, live) => {
    const decision = decide(live);
    expect(decision.action).toBe(action);
    const reasons = [...decision.left, ...('taken' in decision ? decision.taken : [])].map((field) => field.why);
    expect(reasons).toEqual([why]);
    expect(decision).toMatchObject(why === 'drift' ? { force: true } : {});
  });

  it('is left out of what is sent when something else is due', () => {
    const rival = entry('rival', 'Apply', PAUSED);
    const decision = decide({ entries: [taken, rival], applied: changed, spec: { paused: false } });
    expect(decision).toMatchObject({ action: 'apply', force: false, body: { spec: { replicas: 3, args: ['--a'] } } });
    expect('body' in decision && decision.body['spec']).not.toHaveProperty('paused');
  });

  it('is shared when it has our value and an apply is due, and not worth one by itself', () => {
    const rival = entry('rival', 'Apply', PAUSED);
    expect(decide({ entries: [taken, rival] })).toMatchObject({ action: 'none', left: [] });
    const due = decide({ entries: [taken, rival], applied: deployment({ replicas: 2 }), spec: { paused: true } });
    expect(due).toMatchObject({ action: 'apply', body: { spec: { paused: true } }, left: [] });
  });

  it('is taken by force, but from no autoscaler', () => {
    const rivals = [
      entry('rival', 'Apply', PAUSED),
      entry('kube-controller-manager', 'Update', REPLICAS, { subresource: 'scale' }),
    ];
    const decision = decide(
      { entries: [ours('args'), ...rivals], spec: { paused: false, replicas: 7 } },
      { force: true },
    );
    expect(decision).toMatchObject({
      action: 'apply',
      force: true,
      taken: [{ path: '.spec.paused', manager: 'rival', why: 'forced' }],
      left: [{ path: '.spec.replicas', why: 'autoscaler' }],
    });
    expect('body' in decision && decision.body['spec']).not.toHaveProperty('replicas');
  });

  it('blocks the object when it is a list that is held as a whole', () => {
    const rival = entry('rival', 'Apply', { 'f:args': {} });
    expect(decide({ entries: [ours('replicas', 'paused'), rival], spec: { args: ['--b'] } })).toMatchObject({
      action: 'blocked',
      held: [{ path: '.spec.args', manager: 'rival', why: 'applier' }],
    });
  });

  it('is known from what the server told, where the object does not show it', () => {
    const conflict: FieldConflict = { manager: 'rival', operation: 'Apply', path: '.spec.paused' };
    expect(decide({ entries: [taken], spec: { paused: false } }, { conflicts: [conflict] })).toMatchObject({
      action: 'none',
      left: [{ path: '.spec.paused', manager: 'rival', why: 'applier' }],
    });
  });

  it('goes to nobody while it goes back and forth', () => {
    expect(
      decide({ entries: [taken, edit], spec: { paused: false } }, { isFlipping: (path) => path === '.spec.paused' }),
    ).toMatchObject({
      action: 'none',
      left: [{ path: '.spec.paused', manager: 'kubectl-edit', why: 'flipping' }],
    });
  });
});

describe('a field that nobody holds', () => {
  it('is applied again, without force', () => {
    expect(decide({ entries: [taken] })).toMatchObject({ action: 'apply', force: false, taken: [{ why: 'removed' }] });
  });

  it('is not applied for when an apply has shown that it does not bring it about', () => {
    expect(decide({ entries: [taken] }, { isUsual: () => true })).toMatchObject({ action: 'none' });
  });

  it('is nothing to own when it is empty on both sides', () => {
    const empty = deployment({ replicas: 3, selector: {}, args: [] });
    expect(
      decide({ entries: [ours('replicas')], spec: { selector: undefined, args: undefined } }, {}, empty),
    ).toMatchObject({
      action: 'none',
    });
  });

  it('was scaled, where it is replicas: servers forget who scales to 0', () => {
    const scaled = { entries: [ours('paused', 'args')], spec: { replicas: 0 } };
    expect(decide(scaled)).toMatchObject({ action: 'none', left: [{ path: '.spec.replicas', why: 'scale' }] });
    const due = decide({ ...scaled, applied: changed });
    expect('body' in due && due.body['spec']).not.toHaveProperty('replicas');
    expect(decide({ ...scaled, applied: changed, spec: { replicas: 1 } })).toMatchObject({
      body: { spec: { replicas: 3 } },
    });
  });

  it('is taken back by force when managedFields were cleared', () => {
    expect(decide({ entries: [], spec: { paused: false } })).toMatchObject({ action: 'apply', force: true });
  });
});

describe('a field that is ours', () => {
  it('and has another value is applied once, unless it comes out so', () => {
    const live = { entries: [whole], spec: { paused: false } };
    expect(decide(live)).toMatchObject({ action: 'apply', force: false, taken: [{ why: 'rewritten', live: false }] });
    expect(decide(live, { isUsual: () => true })).toMatchObject({
      action: 'none',
      rewritten: [{ path: '.spec.paused' }],
    });
  });

  it('stays in what is sent although its value is left, so that it is not removed', () => {
    const flipping = { isFlipping: (path: string) => path === '.spec.paused' };
    const decision = decide({ entries: [whole, edit], spec: { paused: false } }, flipping);
    expect(decision).toMatchObject({ action: 'none', left: [{ why: 'flipping' }] });
  });
});

describe('an object whose hash an admission plug-in takes away', () => {
  const bare = (decision: Partial<Live> = {}): Decision => {
    const { body } = wantedObject(deployment());
    const metadata = { ...body.metadata, annotations: {}, uid: 'u', managedFields: [whole] };
    const spec = { ...(body['spec'] as object), ...decision.spec };
    return decideApply({
      wanted: wantedObject(deployment()),
      live: { ...body, spec, metadata },
      fieldManager: 'atoll',
      managers: FIELD_MANAGERS,
      force: false,
      adopting: false,
      conflicts: [],
      isFlipping: () => false,
      isUsual: () => false,
    });
  };

  it('is in sync when we own what we want, nothing else, and the values are those', () => {
    expect(bare()).toMatchObject({ action: 'none' });
    expect(bare({ spec: { paused: false } })).toMatchObject({ action: 'apply' });
  });
});

describe('a rule', () => {
  const paths = {
    strip: [{ path: 'spec.paused', mode: 'Strip' as const }],
    adopt: [{ path: 'spec.paused', mode: 'Adopt' as const }],
  };

  it('Strip keeps a field out, from the start', () => {
    expect(bodyToCreate(wantedObject(deployment(), paths.strip))['spec']).not.toHaveProperty('paused');
    const decision = decide({ entries: [taken], applied: deployment({ replicas: 2 }), ignore: paths.strip });
    expect('body' in decision && decision.body['spec']).toEqual({ replicas: 3, args: ['--a'] });
  });

  it('Adopt sends it at the start, and later what is there', () => {
    expect(bodyToCreate(wantedObject(deployment(), paths.adopt))['spec']).toHaveProperty('paused', true);
    const live = {
      entries: [taken],
      applied: deployment({ replicas: 2 }),
      ignore: paths.adopt,
      spec: { paused: false },
    };
    expect(decide(live)).toMatchObject({ action: 'apply', body: { spec: { paused: false } } });
  });

  it('is no reason for a write, whoever writes and whatever Git says there', () => {
    for (const ignore of [paths.strip, paths.adopt]) {
      expect(decide({ entries: [taken, edit], ignore, spec: { paused: false } })).toMatchObject({
        action: 'none',
        left: [{ path: '.spec.paused', manager: 'kubectl-edit', why: 'rule' }],
      });
      expect(decide({ entries: [taken], ignore, applied: changed })).toMatchObject({ action: 'none' });
    }
  });

  it('blocks when it leads into a list that is owned as a whole', () => {
    const listed = deployment({ items: [{ name: 'a', x: 1 }] });
    const ignore = [{ path: 'spec.items[name="a"].x', mode: 'Strip' as const }];
    expect(decide({ entries: [ours('items')], ignore }, {}, listed)).toMatchObject({
      action: 'blocked',
      held: [{ path: '.spec.items[name="a"].x', why: 'rule' }],
    });
  });

  it('never makes a 0 that is not ours what is wanted', () => {
    const ignore = [{ path: 'spec.replicas', mode: 'Adopt' as const }];
    const live = { entries: [ours('paused', 'args')], ignore, spec: { replicas: 0 }, applied: changed };
    const decision = decide(live);
    expect('body' in decision && decision.body['spec']).toEqual({ paused: true, args: ['--a'] });
  });
});
