import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../kernel/index.ts';
import { UnsendableError } from '../kubernetes/index.ts';
import { normalize, wantedObject } from './desired-object.ts';

describe('normalize', () => {
  it('drops nulls, status and what the server sets, and keeps everything else', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'Thing',
      metadata: {
        name: 'a',
        namespace: 'b',
        uid: 'u',
        resourceVersion: '1',
        generation: 2,
        creationTimestamp: '2026-01-01T00:00:00Z',
        managedFields: [],
        labels: { keep: 'me' },
        finalizers: ['example.com/keep'],
      },
      spec: { replicas: null, empty: {}, none: [], zero: 0, no: false, list: [{ a: null, b: 1 }] },
      status: { phase: 'Running' },
    } as unknown as KubernetesObject;
    expect(normalize(object)).toEqual({
      apiVersion: 'v1',
      kind: 'Thing',
      metadata: { name: 'a', namespace: 'b', labels: { keep: 'me' }, finalizers: ['example.com/keep'] },
      spec: { empty: {}, none: [], zero: 0, no: false, list: [{ b: 1 }] },
    });
  });

  it("folds a Secret's stringData into data, where it wins", () => {
    const secret: KubernetesObject = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a' },
      data: { kept: 'eA==', replaced: 'eA==' },
      stringData: { replaced: 'grün' },
    };
    const { data, stringData } = normalize(secret);
    expect(stringData).toBeUndefined();
    expect(data).toEqual({ kept: 'eA==', replaced: Buffer.from('grün').toString('base64') });
  });

  it('leaves stringData of other kinds alone', () => {
    const object: KubernetesObject = {
      apiVersion: 'example.com/v1',
      kind: 'Secret',
      metadata: { name: 'a' },
      stringData: { a: 'b' },
    };
    expect(normalize(object)).toEqual(object);
  });
});

describe('a wanted object', () => {
  const configMap = (data: Record<string, string>): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'it', namespace: 'shop' },
    data,
  });

  it('is refused when it is larger than a server takes, by the bytes that it has', () => {
    expect(() => wantedObject(configMap({ a: 'x'.repeat(1024 * 1024) }))).toThrow(UnsendableError);
    expect(() => wantedObject(configMap({ a: 'ü'.repeat(600_000) }))).toThrow(/ConfigMap shop\/it is 1\.14 MiB/);
    expect(() => wantedObject(configMap({ a: 'x'.repeat(1_000_000) }))).not.toThrow();
  });

  it('has the same hash whatever a field that is others’ says', () => {
    const hashOf = (value: string, path: string): string =>
      wantedObject(configMap({ a: '1', b: value }), [{ path, mode: 'Adopt' }]).hash;
    expect(hashOf('x', 'data.b')).toBe(hashOf('y', 'data.b'));
    expect(hashOf('x', 'data.none')).not.toBe(hashOf('y', 'data.none'));
    expect(hashOf('x', 'data.b')).not.toBe(hashOf('x', 'data.none'));
  });

  it('of a Secret whose stringData holds no text is refused by name', () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'it' }, stringData: { port: 80 } };
    expect(() => wantedObject(secret)).toThrow(/Secret it: stringData\.port must be a text/);
  });
});
