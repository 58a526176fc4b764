import { describe, expect, it } from 'vitest';
import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import { fieldOwners, migrateManagedFields, migrationPatch } from './client-side-apply.ts';
import { managedFieldsReducer } from './reduced-managed-fields.ts';

// The cases of client-go, util/csaupgrade/upgrade_test.go, by their names there.

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const annotation = { 'f:annotations': { '.': {}, [`f:${LAST_APPLIED}`]: {} } };
const all = { 'f:data': { '.': {}, 'f:key': {}, 'f:legacy': {} }, 'f:metadata': annotation };
const KUBECTL = 'kubectl-client-side-apply';

function entry(
  manager: string,
  operation: 'Apply' | 'Update',
  fieldsV1: Record<string, unknown>,
  more: Partial<ManagedFieldsEntry> = {},
): ManagedFieldsEntry {
  return {
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1,
    manager,
    operation,
    time: '2022-08-23T23:08:23Z',
    ...more,
  };
}

describe('TestFindOwners', () => {
  const key = ['f:data', 'f:key'];
  const nested = ['f:metadata', 'f:annotations', `f:${LAST_APPLIED}`];

  it.each<[string, ManagedFieldsEntry[], 'Apply' | 'Update', string[][], string[]]>([
    ['Basic', [entry(KUBECTL, 'Update', all)], 'Update', [['f:data']], [KUBECTL]],
    ['Nested', [entry(KUBECTL, 'Update', all)], 'Update', [nested], [KUBECTL]],
    ['NotFound', [entry('kubectl', 'Apply', all)], 'Update', [nested], []],
    ['ApplyOperation', [entry('kubectl', 'Apply', all)], 'Apply', [nested], ['kubectl']],
    [
      'OneOfMultiple',
      [entry(KUBECTL, 'Update', { 'f:metadata': annotation }), entry('kubectl', 'Apply', { 'f:data': all['f:data'] })],
      'Update',
      [nested],
      [KUBECTL],
    ],
    [
      'ManyOfMultiple',
      [
        entry(KUBECTL, 'Update', { 'f:metadata': annotation }),
        entry('kubectl', 'Apply', all),
        entry(`${KUBECTL}2`, 'Update', { 'f:metadata': annotation }),
      ],
      'Update',
      [nested],
      [KUBECTL, `${KUBECTL}2`],
    ],
    ['BasicMultipleFields', [entry(KUBECTL, 'Update', all)], 'Update', [key, nested], [KUBECTL]],
    [
      'MissingOneField',
      [entry(KUBECTL, 'Update', { 'f:data': { '.': {}, 'f:legacy': {} }, 'f:metadata': annotation })],
      'Update',
      [key, nested],
      [],
    ],
  ])('%s', (...[, entries, operation, fields, owners]) => {
    expect(fieldOwners(entries, operation, fields).map(({ manager }) => manager)).toEqual(owners);
  });
});

const labels = { 'f:labels': { 'f:name': {} } };
const pause = { '.': {}, 'f:image': {}, 'f:name': {} };
const podByApply = {
  'f:metadata': labels,
  'f:spec': { 'f:containers': { 'k:{"name":"pause"}': pause } },
};
const podByUpdate = {
  'f:metadata': { ...annotation, 'f:labels': { '.': {}, 'f:name': {} } },
  'f:spec': {
    'f:containers': { 'k:{"name":"pause"}': { ...pause, 'f:resources': {} } },
    'f:dnsPolicy': {},
  },
};
const scheduled = {
  'f:status': { 'f:conditions': { '.': {}, 'k:{"type":"PodScheduled"}': { '.': {}, 'f:status': {} } } },
};

describe('TestUpgradeCSA', () => {
  it.each<[string, readonly string[], string, ManagedFieldsEntry[], ManagedFieldsEntry[]]>([
    [
      'csa-basic-direct-conversion',
      [KUBECTL],
      'kubectl',
      [entry(KUBECTL, 'Update', all)],
      [entry('kubectl', 'Apply', all)],
    ],
    [
      'csa-combine-with-ssa-duplicate-keys',
      [KUBECTL],
      'kubectl',
      [entry('kubectl', 'Apply', all), entry(KUBECTL, 'Update', all)],
      [entry('kubectl', 'Apply', all)],
    ],
    [
      'csa-combine-with-ssa-additional-keys',
      [KUBECTL],
      'kubectl',
      [
        entry('kubectl', 'Apply', { 'f:data': { '.': {}, 'f:key': {} }, 'f:metadata': annotation }),
        entry(KUBECTL, 'Update', all),
      ],
      [entry('kubectl', 'Apply', all)],
    ],
    [
      'csa-no-applicable-version',
      [KUBECTL],
      'kubectl',
      [
        entry('kubectl', 'Apply', all, { apiVersion: 'v5' }),
        entry(KUBECTL, 'Update', { 'f:data': { 'f:key2': {} } }),
        entry(KUBECTL, 'Update', { 'f:data': { 'f:key3': {} } }, { apiVersion: 'v2' }),
      ],
      [entry('kubectl', 'Apply', all, { apiVersion: 'v5' })],
    ],
    [
      'csa-single-applicable-version',
      [KUBECTL],
      'kubectl',
      [
        entry('kubectl', 'Apply', all, { apiVersion: 'v5' }),
        entry(KUBECTL, 'Update', { 'f:data': { 'f:key2': {} } }, { apiVersion: 'v5' }),
        entry(KUBECTL, 'Update', { 'f:data': { 'f:key3': {} } }, { apiVersion: 'v2' }),
      ],
      [entry('kubectl', 'Apply', { ...all, 'f:data': { ...all['f:data'], 'f:key2': {} } }, { apiVersion: 'v5' })],
    ],
    ['noop', [KUBECTL], 'not-already-in-object', [entry('kubectl', 'Apply', all)], [entry('kubectl', 'Apply', all)]],
    [
      'multipleTargetsExisting',
      ['kube-scheduler', KUBECTL],
      'kubectl',
      [
        entry('kubectl', 'Apply', podByApply),
        entry('kube-scheduler', 'Update', scheduled),
        entry(KUBECTL, 'Update', podByUpdate),
      ],
      [entry('kubectl', 'Apply', { ...scheduled, ...podByUpdate })],
    ],
    [
      'multipleTargetsNewInsertion',
      [KUBECTL, 'kube-scheduler'],
      'newly-inserted-manager',
      [
        entry('kubectl', 'Apply', podByApply),
        entry('kube-scheduler', 'Update', scheduled),
        entry(KUBECTL, 'Update', podByUpdate),
      ],
      [
        entry('kubectl', 'Apply', podByApply),
        entry('newly-inserted-manager', 'Apply', { ...scheduled, ...podByUpdate }),
      ],
    ],
    [
      'subresource',
      ['kube-scheduler', KUBECTL],
      'kubectl',
      [
        entry('kubectl', 'Apply', podByApply),
        entry('kube-scheduler', 'Update', scheduled, { subresource: 'status' }),
        entry(KUBECTL, 'Update', podByUpdate),
      ],
      [entry('kubectl', 'Apply', podByUpdate), entry('kube-scheduler', 'Update', scheduled, { subresource: 'status' })],
    ],
  ])('%s', (...[, clientSide, applier, before, after]) => {
    const migrated = migrateManagedFields(before, new Set(clientSide), applier);
    expect(migrated).toEqual(after);
    expect(migrateManagedFields(migrated, new Set(clientSide), applier)).toBe(migrated);
  });
});

describe('the patch that hands ownership over', () => {
  const live: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'test',
      resourceVersion: '7',
      annotations: { [LAST_APPLIED]: '{}' },
      managedFields: [entry('made-by-a-script', 'Update', all)],
    },
  };

  it('is tied to the version, and takes the annotation of whoever wrote it away', () => {
    expect(migrationPatch(live, 'atoll')).toEqual([
      { op: 'replace', path: '/metadata/managedFields', value: [entry('atoll', 'Apply', all)] },
      { op: 'remove', path: '/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration' },
      { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
    ]);
  });

  it('is the same for an object as informers keep it', () => {
    expect(migrationPatch(managedFieldsReducer()(live), 'atoll')).toEqual(migrationPatch(live, 'atoll'));
  });

  it('is not needed where nobody applied by the client', () => {
    const managedFields = [entry('some-controller', 'Update', { 'f:data': { 'f:key': {} } })];
    expect(migrationPatch({ ...live, metadata: { ...live.metadata, managedFields } }, 'atoll')).toBeUndefined();
  });
});
