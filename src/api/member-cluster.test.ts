import { describe, expect, it } from 'vitest';

import { validateObject, type FieldError, type ValidatedObject } from './validation.ts';

function memberCluster(fields: { name?: string; spec?: Record<string, unknown> } = {}): ValidatedObject {
  return {
    apiVersion: 'federation.atoll.dev/v1',
    kind: 'MemberCluster',
    metadata: { name: fields.name ?? 'eu-1', labels: { region: 'eu' } },
    spec: { connection: { kubeconfigSecretRef: { name: 'eu-1' } }, ...fields.spec },
  };
}

const accepted: readonly [string, ValidatedObject][] = [
  ['a kubeconfig as connection', memberCluster()],
  ['a limit of one kind, the others as they are', memberCluster({ spec: { requestLimits: { perSecond: 10 } } })],
];

const refused: readonly [string, ValidatedObject, ...FieldError[]][] = [
  [
    'a member that takes the name of the hub',
    memberCluster({ name: 'hub' }),
    { path: 'metadata.name', message: 'must not be "hub", which is the hub\'s own name' },
  ],
  [
    'so few requests at a time that lists would keep writes waiting',
    memberCluster({ spec: { requestLimits: { inFlight: 3 } } }),
    { path: 'spec.requestLimits.inFlight', message: 'must be at least 4' },
  ],
  [
    'a cluster name with a dot',
    memberCluster({ name: 'eu.1' }),
    {
      path: 'metadata.name',
      message: 'must be a DNS label of at most 63 characters',
    },
  ],
];

describe('a MemberCluster', () => {
  it.each(accepted)('is accepted: %s', (_, object) => {
    expect(validateObject(object)).toEqual([]);
  });

  it.each(refused)('is refused: %s', (_, object, ...errors) => {
    expect(validateObject(object)).toEqual(errors);
  });
});
