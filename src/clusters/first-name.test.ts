import { describe, expect, it } from 'vitest';
import type { MemberCluster } from '../api/index.ts';
import { AlreadyMemberError, refuseSecondName } from './first-name.ts';

interface Described {
  readonly uid?: string;
  readonly created?: string;
  readonly deleted?: boolean;
}

function member(
  name: string,
  { uid, created = '2026-01-01T00:00:00Z', deleted = false }: Described = {},
): MemberCluster {
  return {
    apiVersion: 'federation.atoll.dev/v1',
    kind: 'MemberCluster',
    metadata: { name, creationTimestamp: created, ...(deleted && { deletionTimestamp: created }) },
    spec: { connection: { kubeconfigSecretRef: { name, key: 'kubeconfig' } }, installCRDs: true },
    ...(uid !== undefined && { status: { observedGeneration: 1, conditions: [], uid } }),
  };
}

const later = '2026-01-02T00:00:00Z';

describe('a cluster', () => {
  it.each<[string, MemberCluster, MemberCluster]>([
    ['that is nobody else', member('eu-1'), member('us-1', { uid: 'other' })],
    ['that was seen under this name', member('eu-1', { uid: 'same' }), member('eu-1', { uid: 'same' })],
    ['whose other name is being deleted', member('eu-1'), member('eu-2', { uid: 'same', deleted: true })],
    ['whose other name is younger', member('eu-1', { uid: 'same' }), member('eu-0', { uid: 'same', created: later })],
    ['whose other name sorts later', member('eu-1', { uid: 'same' }), member('eu-2', { uid: 'same' })],
  ])('%s is worked under it', (_, asked, other) => {
    expect(() => refuseSecondName(asked, 'same', [asked, other])).not.toThrow();
  });

  it.each<[string, MemberCluster, MemberCluster]>([
    ['that was seen under another name before', member('eu-1'), member('eu-2', { uid: 'same', created: later })],
    ['whose other name is older', member('eu-1', { uid: 'same', created: later }), member('eu-2', { uid: 'same' })],
    ['whose other name sorts first', member('eu-2', { uid: 'same' }), member('eu-1', { uid: 'same' })],
  ])('%s is refused, with that name', (_, asked, other) => {
    const refused = (): void => refuseSecondName(asked, 'same', [asked, other]);
    expect(refused).toThrow(AlreadyMemberError);
    expect(refused).toThrow(`as ${other.metadata.name}`);
  });
});
