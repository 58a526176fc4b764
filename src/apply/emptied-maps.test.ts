import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../kernel/index.ts';
import { emptyingPatch } from './emptied-maps.ts';

function thing(spec: object, apiVersion = 'example.com/v1'): KubernetesObject {
  return { apiVersion, kind: 'Thing', metadata: { name: 'it' }, spec };
}

function live(spec: object, owned: object, apiVersion?: string): KubernetesObject {
  const entry = { manager: 'atoll', operation: 'Apply' as const, apiVersion: 'v1', fieldsV1: { 'f:spec': owned } };
  const object = thing(spec, apiVersion);
  return { ...object, metadata: { ...object.metadata, resourceVersion: '7', managedFields: [entry] } };
}

const placement = { placement: { clusters: ['a'] } };
const owned = { 'f:placement': { 'f:clusters': {} } };
const version = { op: 'replace', path: '/metadata/resourceVersion', value: '7' };

describe('the maps that are emptied before an apply', () => {
  it.each<[string, object[] | undefined, KubernetesObject, KubernetesObject]>([
    [
      'are those whose last field is given up',
      [{ op: 'replace', path: '/spec/placement', value: {} }, version],
      thing({ placement: {} }),
      live(placement, owned),
    ],
    [
      'are named by JSON pointers',
      [{ op: 'replace', path: '/spec/a~1b~0c', value: {} }, version],
      thing({ 'a/b~c': {} }),
      live({ 'a/b~c': { x: 1 } }, { 'f:a/b~c': { 'f:x': {} } }),
    ],
    [
      'are none that keep a field of somebody else',
      undefined,
      thing({ placement: {} }),
      live({ placement: { clusters: [], other: 1 } }, owned),
    ],
    [
      'are none that are empty already',
      undefined,
      thing({ placement: {} }),
      live({ placement: {} }, { 'f:placement': {} }),
    ],
    ['are none that are left out altogether', undefined, thing({ other: 1 }), live(placement, owned)],
    ['are none that keep a field', undefined, thing({ placement: { clusters: [] } }), live(placement, owned)],
    ['are none of a built-in kind', undefined, thing({ placement: {} }, 'apps/v1'), live(placement, owned, 'apps/v1')],
  ])('%s', (_, patch, body, current) => {
    expect(emptyingPatch(body, current, 'atoll')).toEqual(patch);
  });
});
