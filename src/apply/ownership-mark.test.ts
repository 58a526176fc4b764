import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../kernel/index.ts';
import { isOwnedBy, markOf, OWNER_ANNOTATION, ownerHash, withMark } from './ownership-mark.ts';
import type { OwnerMark } from './ownership-mark.ts';

const owner: OwnerMark = {
  installation: 'main',
  kind: 'FederatedRedisCluster.federation.atoll.dev',
  namespace: 'shop',
  name: 'sessions',
  uid: '1111',
};

const settings: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'shop', labels: { team: 'shop' } },
  data: { a: 'b' },
};

function renamed(object: KubernetesObject, change: Partial<KubernetesObject['metadata']>): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, ...change } };
}

describe('an ownership mark', () => {
  it('is read back as it was written, beside what the object says itself', () => {
    const marked = withMark(settings, owner);
    expect(markOf(marked)).toEqual({ mark: owner, valid: true, adopted: false });
    expect(markOf(withMark(marked, owner, { adopted: true }))).toMatchObject({ valid: true, adopted: true });
    expect(marked.metadata.labels).toEqual({
      team: 'shop',
      'app.kubernetes.io/managed-by': 'atoll',
      'atoll.dev/owner': ownerHash(owner),
    });
    expect(marked['data']).toEqual({ a: 'b' });
  });

  it.each<[string, (marked: KubernetesObject) => KubernetesObject]>([
    ['name', (marked) => renamed(marked, { name: 'copy' })],
    ['namespace', (marked) => renamed(marked, { namespace: 'other' })],
    ['kind', (marked) => ({ ...marked, kind: 'Secret' })],
    ['group', (marked) => ({ ...marked, apiVersion: 'example.com/v1' })],
  ])('is not valid on an object of another %s', (_, copy) => {
    const copied = copy(withMark(settings, owner));
    expect(markOf(copied)?.valid).toBe(false);
    expect(isOwnedBy(copied, owner)).toBe(false);
  });

  it('stays valid when the object is served in another version', () => {
    const marked = withMark({ ...settings, apiVersion: 'example.com/v1beta1' }, owner);
    expect(isOwnedBy({ ...marked, apiVersion: 'example.com/v1' }, owner)).toBe(true);
  });

  it('names the same owner after the owner was rebuilt with another UID', () => {
    const rebuilt = { ...owner, uid: '2222' };
    expect(isOwnedBy(withMark(settings, owner), rebuilt)).toBe(true);
    expect(ownerHash(rebuilt)).toBe(ownerHash(owner));
  });

  it.each<[string, Partial<OwnerMark>]>([
    ['installation', { installation: 'other' }],
    ['kind', { kind: 'FederatedWebApp.federation.atoll.dev' }],
    ['namespace', { namespace: 'other' }],
    ['name', { name: 'other' }],
  ])('is not that of an owner with another %s', (_, change) => {
    expect(isOwnedBy(withMark(settings, owner), { ...owner, ...change })).toBe(false);
    expect(ownerHash({ ...owner, ...change })).not.toBe(ownerHash(owner));
  });

  it.each(['', 'not json', 'null', '7', '[]', '{}', '{"installation":"main"}', '{"installation":1,"kind":"k"}'])(
    'is absent when the annotation is %j',
    (text) => {
      expect(markOf(renamed(settings, { annotations: { [OWNER_ANNOTATION]: text } }))).toBeUndefined();
    },
  );

  it('is absent when there is no annotation', () => {
    expect(markOf(settings)).toBeUndefined();
  });

  it('has a hash that fits a label value', () => {
    expect(ownerHash({ ...owner, name: 'x'.repeat(253) })).toMatch(/^[a-z0-9]{1,63}$/);
  });
});
