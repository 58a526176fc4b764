import { describe, expect, it } from 'vitest';
import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import { APPLIED_HASH_ANNOTATION, wantedObject } from './desired-object.ts';
import { firstLook } from './first-look.ts';

const MANAGER = 'atoll';

const deployment: KubernetesObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          {
            name: 'app',
            image: 'web:1',
            args: ['--fast'],
            env: [],
            ports: [{ containerPort: 80 }],
          },
        ],
      },
    },
  },
};

/** What an API server records for an apply of {@link deployment}. */
const ownedFields = {
  'f:metadata': { 'f:labels': { 'f:app': {} }, 'f:annotations': { [`f:${APPLIED_HASH_ANNOTATION}`]: {} } },
  'f:spec': {
    'f:replicas': {},
    'f:selector': {},
    'f:template': {
      'f:metadata': { 'f:labels': { 'f:app': {} } },
      'f:spec': {
        'f:containers': {
          'k:{"name":"app"}': {
            '.': {},
            'f:name': {},
            'f:image': {},
            'f:args': {},
            'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
          },
        },
      },
    },
  },
};

function entryOf(fieldsV1: Record<string, unknown>, overrides: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry {
  return {
    manager: MANAGER,
    operation: 'Apply',
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...overrides,
  };
}

function isInSync(desired: KubernetesObject, live: KubernetesObject, manager: string): boolean {
  return firstLook(desired, live, manager).inSync;
}

function hashed(object: KubernetesObject): KubernetesObject {
  return wantedObject(object).body;
}

function liveFrom(desired: KubernetesObject, managedFields: readonly ManagedFieldsEntry[]): KubernetesObject {
  const applied = hashed(desired);
  return { ...applied, metadata: { ...applied.metadata, uid: 'u', resourceVersion: '7', managedFields } };
}

/** `fields` without one of its nodes, and without the parents that are empty then, as an API server writes it. */
function omit(fields: Record<string, unknown>, path: readonly string[]): Record<string, unknown> {
  const [head = '', ...tail] = path;
  if (!(head in fields)) throw new Error(`no such node: ${head}`);
  const child = tail.length === 0 ? {} : omit(fields[head] as Record<string, unknown>, tail);
  const others = Object.fromEntries(Object.entries(fields).filter(([name]) => name !== head));
  return Object.keys(child).length === 0 ? others : { ...others, [head]: child };
}

const CONTAINER = ['f:spec', 'f:template', 'f:spec', 'f:containers', 'k:{"name":"app"}'];

describe('an object at first sight is in sync', () => {
  it('holds when our apply entry covers every field and the hash is that of the desired object', () => {
    expect(isInSync(deployment, liveFrom(deployment, [entryOf(ownedFields)]), MANAGER)).toBe(true);
  });

  it('holds whatever other managers own beside us', () => {
    const others = [entryOf(ownedFields, { manager: 'hpa', operation: 'Update' }), entryOf(ownedFields)];
    expect(isInSync(deployment, liveFrom(deployment, others), MANAGER)).toBe(true);
  });

  it('holds for a desired object that has nulls, a status and server-set metadata', () => {
    const noisy: KubernetesObject = {
      ...deployment,
      metadata: { ...deployment.metadata, uid: 'other', creationTimestamp: '2026-01-01T00:00:00Z', annotations: {} },
      status: { replicas: 1 },
      data: null,
    };
    const live = liveFrom(deployment, [entryOf(ownedFields)]);
    expect(isInSync(noisy, live, MANAGER)).toBe(true);
  });

  it.each([
    ['a label', ['f:metadata', 'f:labels', 'f:app']],
    ['the hash annotation', ['f:metadata', 'f:annotations']],
    ['an atomic map', ['f:spec', 'f:selector']],
    ['an atomic list', [...CONTAINER, 'f:args']],
    ['a field of a list item', [...CONTAINER, 'f:image']],
    ['a whole list item', CONTAINER],
    ['an item found by a defaulted key', [...CONTAINER, 'f:ports', 'k:{"containerPort":80,"protocol":"TCP"}']],
  ])('fails when %s is no longer ours', (_, path) => {
    const live = liveFrom(deployment, [entryOf(omit(ownedFields, path))]);
    expect(isInSync(deployment, live, MANAGER)).toBe(false);
  });

  it.each([
    ['by another manager', { manager: 'someone' }],
    ['by an update under our name', { operation: 'Update' as const }],
    ['in another version', { apiVersion: 'apps/v1beta2' }],
    ['through a subresource', { subresource: 'status' }],
  ])('fails when the fields are owned %s', (_, overrides) => {
    expect(isInSync(deployment, liveFrom(deployment, [entryOf(ownedFields, overrides)]), MANAGER)).toBe(false);
  });

  it('fails when managedFields were cleared', () => {
    expect(isInSync(deployment, liveFrom(deployment, []), MANAGER)).toBe(false);
  });

  it('fails when the desired object changed, even where the live one already owns every field of it', () => {
    const { replicas: _replicas, ...spec } = deployment['spec'] as Record<string, unknown>;
    const live = liveFrom(deployment, [entryOf(ownedFields)]);
    expect(isInSync({ ...deployment, spec }, live, MANAGER)).toBe(false);
  });

  it('takes an atomic item of a list, which is recorded without children, for owned as a whole', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u1', controller: true };
    const child: KubernetesObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'child', namespace: 'shop', ownerReferences: [owner] },
    };
    const fields = {
      'f:metadata': {
        'f:annotations': { [`f:${APPLIED_HASH_ANNOTATION}`]: {} },
        'f:ownerReferences': { 'k:{"uid":"u1"}': {} },
      },
    };
    const liveWith = (owned: Record<string, unknown>): KubernetesObject =>
      liveFrom(child, [entryOf(owned, { apiVersion: 'v1' })]);
    expect(isInSync(child, liveWith(fields), MANAGER)).toBe(true);
    const without = omit(fields, ['f:metadata', 'f:ownerReferences', 'k:{"uid":"u1"}']);
    expect(isInSync(child, liveWith(without), MANAGER)).toBe(false);
  });

  it('tells set items and items with several keys apart', () => {
    const service: KubernetesObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'dns', finalizers: ['example.com/a'] },
      spec: {
        ports: [
          { name: 'tcp', port: 53, protocol: 'TCP' },
          { name: 'udp', port: 53, protocol: 'UDP' },
        ],
      },
    };
    const port = { '.': {}, 'f:name': {}, 'f:port': {}, 'f:protocol': {} };
    const fields = {
      'f:metadata': {
        'f:annotations': { [`f:${APPLIED_HASH_ANNOTATION}`]: {} },
        'f:finalizers': { 'v:"example.com/a"': {} },
      },
      'f:spec': {
        'f:ports': { 'k:{"port":53,"protocol":"TCP"}': port, 'k:{"port":53,"protocol":"UDP"}': port },
      },
    };
    const v1 = { apiVersion: 'v1' };
    const liveWith = (owned: Record<string, unknown>): KubernetesObject => liveFrom(service, [entryOf(owned, v1)]);
    expect(isInSync(service, liveWith(fields), MANAGER)).toBe(true);
    const withoutUdp = omit(fields, ['f:spec', 'f:ports', 'k:{"port":53,"protocol":"UDP"}']);
    expect(isInSync(service, liveWith(withoutUdp), MANAGER)).toBe(false);
    const withoutFinalizer = omit(fields, ['f:metadata', 'f:finalizers', 'v:"example.com/a"']);
    expect(isInSync(service, liveWith(withoutFinalizer), MANAGER)).toBe(false);
  });
});

describe('the hash of a desired object', () => {
  it('does not depend on the order of fields, nor on a hash that is there already', () => {
    const reordered = { spec: deployment['spec'], ...deployment } as KubernetesObject;
    expect(hashed(hashed(reordered))).toEqual(hashed(deployment));
  });

  it('changes with every value, integers beyond 2^53 included', () => {
    const hashOf = (value: unknown): unknown =>
      hashed({ ...deployment, spec: { value } }).metadata.annotations?.[APPLIED_HASH_ANNOTATION];
    const hashes = [1, '1', 9_007_199_254_740_993n, 9_007_199_254_740_992n, true, [], {}].map((value) => hashOf(value));
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
