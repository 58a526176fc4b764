import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../kernel/index.ts';
import { InvalidError } from '../kubernetes/index.ts';
import { withoutAllocated } from './allocated-fields.ts';
import { childRules, ownRules, withChildRules } from './child-rules.ts';
import { immutableFields, missingConsent } from './immutable-fields.ts';

function object(apiVersion: string, kind: string, spec: object, annotations = {}): KubernetesObject {
  return { apiVersion, kind, metadata: { name: 'it', annotations }, spec };
}

describe('what a cluster allocates', () => {
  it.each<[string, KubernetesObject, object]>([
    [
      'is not taken along: addresses and node ports',
      object('v1', 'Service', {
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        healthCheckNodePort: 31_000,
        ports: [{ port: 80, nodePort: 30_000 }],
      }),
      { ports: [{ port: 80 }] },
    ],
    [
      'is not the decision for no address',
      object('v1', 'Service', { clusterIP: 'None', clusterIPs: ['None'] }),
      { clusterIP: 'None', clusterIPs: ['None'] },
    ],
    ['is not taken along: a volume', object('v1', 'PersistentVolumeClaim', { volumeName: 'pv', a: 1 }), { a: 1 }],
    ['is not taken along: a node', object('v1', 'Pod', { nodeName: 'n', a: 1 }), { a: 1 }],
    ['is not taken along: the selector of a Job', object('batch/v1', 'Job', { selector: {}, a: 1 }), { a: 1 }],
    [
      'is not a selector that was written by hand',
      object('batch/v1', 'Job', { selector: {}, manualSelector: true }),
      { selector: {}, manualSelector: true },
    ],
    ['is nothing of other kinds', object('example.com/v1', 'Service', { clusterIP: 'x' }), { clusterIP: 'x' }],
  ])('%s', (_, given, spec) => {
    expect(withoutAllocated(given)['spec']).toEqual(spec);
  });
});

describe('a refused change', () => {
  const refusal = (...messages: string[]): InvalidError =>
    new InvalidError(
      'refused',
      messages.map((message, index) => ({ path: `spec.f${index}`, reason: 'FieldValueInvalid', message })),
    );

  it.each([
    'Invalid value: {}: field is immutable',
    'Invalid value: []: may not change once set',
    'Forbidden: field is immutable when `immutable` is set',
    'Forbidden: updates to statefulset spec for fields other than replicas, ordinals are forbidden',
    'Invalid value: {}: cannot change roleRef',
    'Forbidden: spec is immutable after creation except resources.requests',
  ])('is of an immutable field when the server says: %s', (message) => {
    expect(immutableFields(refusal('must be positive', message))).toEqual(['spec.f1']);
  });

  it('is of something else otherwise', () => {
    expect(immutableFields(refusal('must be positive'))).toEqual([]);
    expect(immutableFields(new Error('field is immutable'))).toEqual([]);
  });
});

describe('the consent to be made anew', () => {
  const one = { 'atoll.dev/recreate': 'enabled' };
  const both = { ...one, 'atoll.dev/recreate-data': 'enabled' };

  it.each<[string, string, object, readonly string[]]>([
    ['Deployment', 'apps/v1', {}, ['atoll.dev/recreate']],
    ['Deployment', 'apps/v1', { 'atoll.dev/recreate': 'maybe' }, ['atoll.dev/recreate']],
    ['Deployment', 'apps/v1', one, []],
    ['StatefulSet', 'apps/v1', one, ['atoll.dev/recreate-data']],
    ['PersistentVolumeClaim', 'v1', one, ['atoll.dev/recreate-data']],
    ['StatefulSet', 'apps/v1', both, []],
  ])('of a %s (%s, %j) wants %j', (kind, apiVersion, annotations, missing) => {
    expect(missingConsent(object(apiVersion, kind, {}, annotations))).toEqual(missing);
  });
});

describe('rules for what is made of an object', () => {
  const rules = [
    { kind: 'StatefulSet', path: 'spec.replicas', mode: 'Strip' as const },
    { kind: 'Deployment', path: 'spec.paused', mode: 'Adopt' as const },
    { path: 'spec.a', mode: 'Strip' as const },
  ];
  const owner = object('apps/v1', 'Deployment', {});

  it('travel with it, and those for itself do not', () => {
    expect(ownRules(owner, rules).map(({ path }) => path)).toEqual(['spec.paused', 'spec.a']);
    const bearing = withChildRules(owner, rules);
    expect(ownRules(object('apps/v1', 'StatefulSet', {}), childRules(bearing))).toEqual([rules[0]]);
    expect(withChildRules(owner, rules.slice(1))).toBe(owner);
  });

  it.each(['{', '{}', '[{"path": 1}]', '[null]', '[{"kind":"A","path":"b","mode":"C"}]'])('are none in %s', (text) => {
    expect(childRules(object('apps/v1', 'Deployment', {}, { 'atoll.dev/ignore': text }))).toEqual([]);
  });
});
