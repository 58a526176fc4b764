import { describe, expect, it } from 'vitest';
import { gitSource } from '../../../test/support/builders.ts';
import { APPLIED_HASH_ANNOTATION, wantedObject, withMark } from '../../apply/index.ts';
import type { KubernetesObject } from '../../kernel/index.ts';
import type { Manifest } from '../../manifests/index.ts';
import { describe as describeManifest, inNamespace, isPrunable, markOfSource, planObject } from './sync-plan.ts';
import type { PlannedObject } from './sync-plan.ts';

const mark = markOfSource(gitSource(), 'installation');
const SOURCE_REVISION_ANNOTATION = 'atoll.dev/source-revision';
const first = 'main@sha1:first';
const second = 'main@sha1:second';

function settings(data: Record<string, string> = { a: '1' }): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'shop' }, data };
}

function manifestOf(object: KubernetesObject): Manifest {
  return { object, source: { file: 'apps/settings.yaml', line: 12, column: 1, document: 2 } };
}

function plan(object: KubernetesObject, live?: KubernetesObject, revision = second, owner = mark): PlannedObject {
  return planObject(manifestOf(object), object, live, { mark: owner, revision });
}

/** The object as the hub has it after it was applied at a revision. */
function appliedAt(revision: string, object = settings()): KubernetesObject {
  const body = wantedObject(withMark(plan(object, undefined, revision).desired, mark)).body;
  const owned = {
    'f:metadata': {
      'f:labels': keysOf(body.metadata.labels),
      'f:annotations': keysOf(body.metadata.annotations),
    },
    'f:data': keysOf(body['data'] as Record<string, string>),
  };
  const entry = { manager: 'atoll-git', operation: 'Apply' as const, apiVersion: 'v1', fieldsV1: owned };
  return { ...body, metadata: { ...body.metadata, uid: 'u', resourceVersion: '1', managedFields: [entry] } };
}

function keysOf(record: Readonly<Record<string, string>> = {}): Record<string, object> {
  return Object.fromEntries(Object.keys(record).map((key) => [`f:${key}`, {}]));
}

function revisionOf({ desired }: PlannedObject): string | undefined {
  return desired.metadata.annotations?.[SOURCE_REVISION_ANNOTATION];
}

describe('the plan for one manifest', () => {
  it('applies what is not there, at the new revision and under the mark of the source', () => {
    const planned = plan(settings());
    expect(planned).toMatchObject({ changed: true, live: undefined });
    expect(revisionOf(planned)).toBe(second);
    expect(planned.desired.metadata.annotations?.['atoll.dev/owner']).toContain('GitSource.federation.atoll.dev');
  });

  it('leaves alone what a later commit does not change, under the revision that it bears', () => {
    const planned = plan(settings(), appliedAt(first));
    expect(planned.changed).toBe(false);
    expect(revisionOf(planned)).toBe(first);
  });

  it('applies what a commit changes, at its revision', () => {
    const planned = plan(settings({ a: '2' }), appliedAt(first));
    expect(planned.changed).toBe(true);
    expect(revisionOf(planned)).toBe(second);
  });

  it.each<[string, (live: KubernetesObject) => KubernetesObject]>([
    ['a field was taken by another', (live) => ({ ...live, metadata: { ...live.metadata, managedFields: [] } })],
    ['the revision was removed by hand', (live) => withoutAnnotation(live, SOURCE_REVISION_ANNOTATION)],
    ['the hash was changed by hand', (live) => withAnnotation(live, APPLIED_HASH_ANNOTATION, 'forged')],
  ])('applies again when %s', (_, drift) => {
    expect(plan(settings(), drift(appliedAt(first))).changed).toBe(true);
  });

  it('does not take for its own what another source applied', () => {
    const other = markOfSource(gitSource({ metadata: { name: 'other' } }), 'installation');
    expect(plan(settings(), appliedAt(first), second, other).changed).toBe(true);
  });
});

describe('the place of a manifest', () => {
  const bare = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } };

  it.each<[string, KubernetesObject, boolean, string | undefined]>([
    ['without a namespace is that of the source', bare, true, 'shop'],
    [
      'with an empty namespace is that of the source',
      { ...bare, metadata: { name: 'settings', namespace: '' } },
      true,
      'shop',
    ],
    ['with a namespace is that', { ...bare, metadata: { name: 'settings', namespace: 'other' } }, true, 'other'],
    ['of a cluster-scoped kind is none', { ...bare, metadata: { name: 'x', namespace: 'other' } }, false, undefined],
  ])('%s', (_, object, namespaced, expected) => {
    expect(inNamespace(object, 'shop', namespaced).metadata.namespace).toBe(expected);
  });

  it('is told in messages by file, line and object', () => {
    expect(describeManifest(manifestOf(settings()))).toBe('apps/settings.yaml:12 ConfigMap shop/settings');
    expect(describeManifest(manifestOf(bare))).toBe('apps/settings.yaml:12 ConfigMap settings');
  });
});

function withAnnotation(object: KubernetesObject, name: string, value: string): KubernetesObject {
  const annotations = { ...object.metadata.annotations, [name]: value };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function withoutAnnotation(object: KubernetesObject, name: string): KubernetesObject {
  const annotations = Object.entries(object.metadata.annotations ?? {}).filter(([key]) => key !== name);
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(annotations) } };
}

describe('an object that its commit does not hold any more', () => {
  it.each<[string, boolean, KubernetesObject]>([
    ['goes', true, settings()],
    ['stays when it says so', false, annotated({ 'atoll.dev/prune': 'disabled' })],
    ['stays when it is a Namespace', false, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }],
    [
      'stays when it is a CRD',
      false,
      { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'a.b' } },
    ],
    [
      'stays when it is a MemberCluster',
      false,
      { apiVersion: 'federation.atoll.dev/v1', kind: 'MemberCluster', metadata: { name: 'eu-1' } },
    ],
  ])('%s', (_behaviour, prunable, object) => {
    expect(isPrunable(object)).toBe(prunable);
  });
});

function annotated(annotations: Record<string, string>): KubernetesObject {
  const object = settings();
  return { ...object, metadata: { ...object.metadata, annotations } };
}
