import { describe, expect, it } from 'vitest';

import { validateObject, type FieldError, type ValidatedObject } from './validation.ts';

function federated(spec: Record<string, unknown> = {}): ValidatedObject {
  return {
    apiVersion: 'federation.atoll.dev/v1',
    kind: 'FederatedRedisCluster',
    metadata: { name: 'sessions', namespace: 'shop' },
    spec: { template: { spec: { replicas: 3 } }, placement: { clusters: ['eu-1'] }, ...spec },
  };
}

function overridden(...patches: Record<string, unknown>[]): ValidatedObject {
  return federated({ overrides: [{ name: 'eu', selector: { matchLabels: { region: 'eu' } }, patches }] });
}

function selecting(requirement: Record<string, unknown>): ValidatedObject {
  return federated({ placement: { selector: { matchExpressions: [requirement] } } });
}

const accepted: readonly [string, ValidatedObject][] = [
  ['no cluster at all', federated({ placement: {} })],
  ['all clusters, by the empty selector', federated({ placement: { selector: {} } })],
  ['a patch whose value is null', overridden({ op: 'add', path: '/spec/image', value: null })],
  ['a patch of a label', overridden({ op: 'add', path: '/metadata/labels/tier', value: 'x' })],
  [
    'a patch that copies the name into a label',
    overridden({ op: 'copy', from: '/metadata/name', path: '/metadata/labels/a' }),
  ],
  ['a test of what cannot be changed', overridden({ op: 'test', path: '/kind', value: 'RedisCluster' })],
  ['a requirement that a label exists', selecting({ key: 'tier', operator: 'Exists' })],
];

const refused: readonly [string, ValidatedObject, ...FieldError[]][] = [
  [
    'a misspelt field of the template, naming those that exist',
    federated({ template: { spec: { replcias: 3 } } }),
    {
      path: 'spec.template.spec.replcias',
      message: 'is not a field; allowed: replicas, version, image, resources, storage, config',
    },
  ],
  [
    'an absent choice that is required',
    selecting({ key: 'a' }),
    {
      path: 'spec.placement.selector.matchExpressions[0].operator',
      message: 'is required',
    },
  ],
  [
    'an empty service account',
    federated({ serviceAccountName: '' }),
    {
      path: 'spec.serviceAccountName',
      message: expect.stringContaining('must be a DNS subdomain') as string,
    },
  ],
  [
    'a cluster named twice',
    federated({ placement: { clusters: ['eu-1', 'eu-1'] } }),
    {
      path: 'spec.placement.clusters',
      message: 'must not name a cluster twice',
    },
  ],
  [
    'a requirement In without values',
    selecting({ key: 'a', operator: 'In' }),
    {
      path: 'spec.placement.selector.matchExpressions[0]',
      message: 'values must be given for In and NotIn, and only for them',
    },
  ],
  [
    'a requirement Exists with values',
    selecting({ key: 'a', operator: 'Exists', values: ['b'] }),
    {
      path: 'spec.placement.selector.matchExpressions[0]',
      message: 'values must be given for In and NotIn, and only for them',
    },
  ],
  [
    'a patch path that is no pointer',
    overridden({ op: 'remove', path: 'spec/image' }),
    {
      path: 'spec.overrides[0].patches[0].path',
      message: 'must be a JSON pointer such as /spec/replicas',
    },
  ],
  [
    'an added nothing',
    overridden({ op: 'add', path: '/spec/image' }),
    {
      path: 'spec.overrides[0].patches[0]',
      message: 'value must be given for add, replace and test, and only for them',
    },
  ],
  [
    'a move from nowhere',
    overridden({ op: 'move', path: '/spec/image' }),
    {
      path: 'spec.overrides[0].patches[0]',
      message: 'from must be given for copy and move, and only for them',
    },
  ],
  [
    'a patch of the name',
    overridden({ op: 'replace', path: '/metadata/name', value: 'x' }),
    {
      path: 'spec.overrides[0].patches[0]',
      message: 'path must lead to the spec, or to labels or annotations: identity and status cannot be overridden',
    },
  ],
  [
    'a patch of the whole object',
    overridden({ op: 'replace', path: '', value: {} }),
    {
      path: 'spec.overrides[0].patches[0]',
      message: 'path must lead to the spec, or to labels or annotations: identity and status cannot be overridden',
    },
  ],
  [
    'a patch that moves the kind away',
    overridden({ op: 'move', from: '/kind', path: '/spec/image' }),
    {
      path: 'spec.overrides[0].patches[0]',
      message: 'from must not move away identity or status',
    },
  ],
  [
    'an override for nowhere',
    federated({ overrides: [{ name: 'a', patches: [{ op: 'remove', path: '/spec/image' }] }] }),
    {
      path: 'spec.overrides[0]',
      message: 'clusters or selector must say where the override is for; selector {} is for all clusters',
    },
  ],
  [
    'two overrides of one name',
    federated({
      overrides: ['a', 'a'].map((name) => ({
        name,
        clusters: ['b'],
        patches: [{ op: 'remove', path: '/spec/image' }],
      })),
    }),
    { path: 'spec.overrides', message: 'every override must have a name of its own' },
  ],
];

describe('a FederatedRedisCluster', () => {
  it.each(accepted)('is accepted: %s', (_, object) => {
    expect(validateObject(object)).toEqual([]);
  });

  it.each(refused)('is refused: %s', (_, object, ...errors) => {
    expect(validateObject(object)).toEqual(errors);
  });
});
