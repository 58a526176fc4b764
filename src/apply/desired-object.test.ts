import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../kernel/index.ts';
import { normalize } from './desired-object.ts';

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
