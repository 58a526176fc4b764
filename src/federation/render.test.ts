import { describe, expect, it } from 'vitest';
import { federatedObject } from '../../test/support/builders.ts';
import { federatedKinds } from '../api/index.ts';
import type { FederatedKind } from '../api/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { OverrideError } from '../manifests/index.ts';
import { renderMemberObject } from './render.ts';
import type { RevisionData } from './revisions.ts';

const kind = federatedKinds[0] as FederatedKind;
const eu1 = { name: 'eu-1', labels: { region: 'eu' } };
const us1 = { name: 'us-1', labels: { region: 'us' } };

type Override = RevisionData['overrides'][number];

function replace(path: string, value: unknown): Override['patches'][number] {
  return { op: 'replace', path, value };
}

function render(overrides: readonly Override[] = [], member = eu1): KubernetesObject {
  const template = {
    metadata: { labels: { team: 'shop' }, annotations: { note: 'kept' } },
    spec: { replicas: 3, version: '8.2' },
  };
  return renderMemberObject(kind, federatedObject(), { name: 'sessions-r1', data: { template, overrides } }, member);
}

/** The error of an override that does not fit. */
function failureOf(...overrides: readonly Override[]): OverrideError {
  try {
    render(overrides);
  } catch (error) {
    if (error instanceof OverrideError) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

describe('the object of a member', () => {
  it('is the template under the name of the federated object, at its revision', () => {
    expect(render()).toEqual({
      apiVersion: 'workloads.atoll.dev/v1',
      kind: 'RedisCluster',
      metadata: {
        name: 'sessions',
        namespace: 'shop',
        labels: { team: 'shop' },
        annotations: { note: 'kept', 'atoll.dev/revision': 'sessions-r1' },
      },
      spec: { replicas: 3, version: '8.2' },
    });
  });

  it('comes of the revision, not of what the federated object says now', () => {
    const object = federatedObject({ spec: { template: { spec: { replicas: 9 } } } });
    const data = { template: { spec: { replicas: 1 } }, overrides: [] };
    expect(renderMemberObject(kind, object, { name: 'r', data }, eu1)['spec']).toEqual({ replicas: 1 });
  });

  it.each<[string, Pick<Override, 'clusters' | 'selector'>, boolean]>([
    ['names the cluster', { clusters: ['eu-1'] }, true],
    ['names another cluster', { clusters: ['us-1'] }, false],
    ['selects the cluster', { selector: { matchLabels: { region: 'eu' } } }, true],
    ['selects another cluster', { selector: { matchLabels: { region: 'us' } } }, false],
    ['selects all', { selector: {} }, true],
    ['names another cluster and selects this one', { clusters: ['us-1'], selector: {} }, true],
    ['says nothing of clusters', {}, false],
  ])('is overridden as told when an override %s', (_, target, applies) => {
    const override: Override = { name: 'size', ...target, patches: [replace('/spec/replicas', 5)] };
    expect(render([override])['spec']).toMatchObject({ replicas: applies ? 5 : 3 });
  });

  it('gets its overrides in order, each on what the last one left', () => {
    const first: Override = { name: 'first', selector: {}, patches: [replace('/spec', { replicas: 5 })] };
    const second: Override = {
      name: 'second',
      selector: {},
      patches: [{ op: 'test', path: '/spec/replicas', value: 5 }, replace('/spec/replicas', 7)],
    };
    expect(render([first, second])['spec']).toEqual({ replicas: 7 });
    expect(failureOf(second, first).override).toBe('second');
  });

  it('differs from cluster to cluster and leaves the revision as it is', () => {
    const overrides: Override[] = [{ name: 'eu', clusters: ['eu-1'], patches: [replace('/spec/replicas', 5)] }];
    expect(render(overrides, eu1)['spec']).toMatchObject({ replicas: 5 });
    expect(render(overrides, us1)['spec']).toMatchObject({ replicas: 3 });
  });

  it('may be overridden in its labels and annotations, but not in the revision that it names', () => {
    const patches = [
      replace('/metadata/labels/team', 'ops'),
      { op: 'add' as const, path: '/metadata/annotations/atoll.dev~1revision', value: 'mine' },
    ];
    const { labels, annotations } = render([{ name: 'labels', selector: {}, patches }]).metadata;
    expect(labels).toEqual({ team: 'ops' });
    expect(annotations).toEqual({ note: 'kept', 'atoll.dev/revision': 'sessions-r1' });
  });
});

describe('an override that does not fit', () => {
  it('is named, with operation and path', () => {
    const patches = [replace('/spec/replicas', 5), replace('/spec/nothing/here', 1)];
    const error = failureOf({ name: 'eu-memory', selector: {}, patches });
    expect(error).toMatchObject({ override: 'eu-memory', operation: 1, path: '/spec/nothing/here' });
    expect(error.message).toContain('"eu-memory"');
  });

  it.each<[string, unknown]>([
    ['/metadata/name', 'other'],
    ['/metadata/namespace', 'kube-system'],
    ['/apiVersion', 'v1'],
    ['/kind', 'Secret'],
    ['/metadata', { name: 'other' }],
    ['', { apiVersion: 'v1', kind: 'Secret' }],
  ])('is one that changes which object it is, at %j', (path, value) => {
    expect(failureOf({ name: 'thief', selector: {}, patches: [replace(path, value)] })).toMatchObject({
      override: 'thief',
    });
  });

  it('is one that leaves the object without an identity', () => {
    const patches = [{ op: 'remove' as const, path: '/metadata' }];
    expect(failureOf({ name: 'thief', selector: {}, patches })).toMatchObject({ override: 'thief' });
  });
});
