import { describe, expect, it } from 'vitest';

import { validateObject, type FieldError, type ValidatedObject } from './validation.ts';

function gitSource(spec: Record<string, unknown> = {}): ValidatedObject {
  return {
    apiVersion: 'federation.atoll.dev/v1',
    kind: 'GitSource',
    metadata: { name: 'shop', namespace: 'shop' },
    spec: { url: 'https://git.example.com/shop.git', ...spec },
  };
}

const accepted: readonly [string, ValidatedObject][] = [
  ['nothing but a URL', gitSource()],
  ['a compound interval and a branch with a slash', gitSource({ interval: '1h30m', ref: { branch: 'release/8.2' } })],
  ['a path that begins with a dot', gitSource({ path: './clusters/..data' })],
];

const refused: readonly [string, ValidatedObject, ...FieldError[]][] = [
  ['an absent field that is required', gitSource({ url: undefined }), { path: 'spec.url', message: 'is required' }],
  [
    'an API version that is not served',
    { ...gitSource(), apiVersion: 'federation.atoll.dev/v2' },
    {
      path: 'apiVersion',
      message: 'must be "federation.atoll.dev/v1", not "federation.atoll.dev/v2"',
    },
  ],
  [
    'a repository over SSH',
    gitSource({ url: 'ssh://git.example.com/a' }),
    {
      path: 'spec.url',
      message: 'must be an HTTPS URL without credentials, which belong in secretRef',
    },
  ],
  [
    'a password in the URL',
    gitSource({ url: 'https://me:secret@git.example.com/a' }),
    {
      path: 'spec.url',
      message: 'must be an HTTPS URL without credentials, which belong in secretRef',
    },
  ],
  [
    'an interval that is no duration',
    gitSource({ interval: '1 minute' }),
    {
      path: 'spec.interval',
      message: 'must be a duration such as 30s, 5m or 1h30m',
    },
  ],
  [
    'an interval that hammers the server',
    gitSource({ interval: '9s' }),
    {
      path: 'spec.interval',
      message: 'must be at least 10s',
    },
  ],
  [
    'a path out of the repository',
    gitSource({ path: 'a/../../b' }),
    {
      path: 'spec.path',
      message: 'must be relative to the root of the repository and must not contain ".."',
    },
  ],
  [
    'a system identity as service account',
    gitSource({ serviceAccountName: 'system:admin' }),
    {
      path: 'spec.serviceAccountName',
      message: expect.stringContaining('must be a DNS subdomain') as string,
    },
  ],
];

describe('a GitSource', () => {
  it.each(accepted)('is accepted: %s', (_, object) => {
    expect(validateObject(object)).toEqual([]);
  });

  it.each(refused)('is refused: %s', (_, object, ...errors) => {
    expect(validateObject(object)).toEqual(errors);
  });
});
