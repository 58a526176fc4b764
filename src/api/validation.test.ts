import { describe, expect, it } from 'vitest';

import { validateObject, type ValidatedObject } from './validation.ts';

function gitSource(fields: Record<string, unknown>): ValidatedObject {
  return {
    apiVersion: 'federation.atoll.dev/v1',
    kind: 'GitSource',
    metadata: { name: 'shop' },
    spec: { url: 'https://git.example.com/shop.git' },
    ...fields,
  };
}

describe('validateObject', () => {
  it('says nothing about kinds that Atoll does not publish', () => {
    expect(validateObject({ apiVersion: 'apps/v1', kind: 'Deployment', spec: { replcias: 3 } })).toEqual([]);
    expect(validateObject({ apiVersion: 'federation.atoll.dev/v1', kind: 'FederatedThing' })).toEqual([]);
  });

  it('refuses an API version that is not served, naming the one that is', () => {
    expect(validateObject(gitSource({ apiVersion: 'federation.atoll.dev/v2' }))).toEqual([
      { path: 'apiVersion', message: 'must be "federation.atoll.dev/v1", not "federation.atoll.dev/v2"' },
    ]);
  });

  it('refuses a misspelt field at the top, naming those that exist', () => {
    expect(validateObject(gitSource({ sepc: {} }))).toEqual([
      { path: 'sepc', message: 'is not a field; allowed: apiVersion, kind, metadata, spec, status' },
    ]);
  });

  it('counts a null as an absent field, as an API server does', () => {
    const spec = { url: 'https://git.example.com/shop.git', ref: null, secretRef: null };
    expect(validateObject(gitSource({ metadata: { name: 'shop', creationTimestamp: null }, spec }))).toEqual([]);
    expect(validateObject(gitSource({ spec: { ...spec, url: null } }))).toEqual([
      { path: 'spec.url', message: 'is required' },
    ]);
  });

  it('names everything that is wrong at once', () => {
    const spec = { interval: 60, paht: 'a', ref: { branch: 'a b' } };
    expect(validateObject(gitSource({ spec })).map(({ path }) => path)).toEqual([
      'spec.url',
      'spec.ref.branch',
      'spec.interval',
      'spec.paht',
    ]);
  });

  it('names an entry of a map by its key', () => {
    const metadata = { name: 'shop', labels: { 'example.com/tier': 1 } };
    expect(validateObject(gitSource({ metadata }))).toEqual([
      { path: 'metadata.labels["example.com/tier"]', message: 'must be a string, not 1' },
    ]);
  });

  it.each([
    ['a key that is no name', { 'a b': 'c' }, 'metadata.labels["a b"]'],
    ['a value that is no label', { a: 'b c' }, 'metadata.labels.a'],
    ['a value that YAML made a boolean', { a: true }, 'metadata.labels.a'],
  ])('refuses labels with %s', (_, labels, path) => {
    const metadata = { name: 'shop', labels };
    expect(validateObject(gitSource({ metadata })).map((error) => error.path)).toEqual([path]);
  });

  it('accepts metadata as an API server returns it', () => {
    const metadata = {
      name: 'shop',
      namespace: 'shop',
      uid: '1',
      resourceVersion: '2',
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['federation.atoll.dev/cascade'],
      managedFields: [{ manager: 'kubectl', operation: 'Apply', apiVersion: 'federation.atoll.dev/v1', fieldsV1: {} }],
    };
    expect(validateObject(gitSource({ metadata }))).toEqual([]);
  });

  it.each([[undefined], [null], [[]], ['text'], [{ url: [] }], [{ interval: '1 minute' }]])(
    'answers with errors, and does not throw, for the spec %j',
    (spec) => {
      expect(validateObject(gitSource({ spec })).length).toBeGreaterThan(0);
    },
  );
});
