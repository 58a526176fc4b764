import { describe, expect, it } from 'vitest';
import { Applier } from '../../src/apply/index.ts';
import { noMetrics, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import {
  KindNotFoundError,
  NamespaceTerminatingError,
  NotFoundError,
  UnknownFieldError,
  UnsendableError,
} from '../../src/kubernetes/index.ts';
import {
  ApplyFixture,
  asAtoll,
  asController,
  CLUSTER,
  CONFIG_MAP,
  DEPLOYMENT,
  updateAs,
  withContainer,
  withSpec,
} from '../support/apply-fixture.ts';
import { adminClient, asTester, eventually, uniqueName } from '../support/lab.ts';

const fixture = ApplyFixture.install();

function object(apiVersion: string, kind: string, fields: Record<string, unknown>): KubernetesObject {
  return { apiVersion, kind, metadata: { name: 'it', namespace: fixture.namespace }, ...fields };
}

function service(spec: Record<string, unknown>): KubernetesObject {
  return object('v1', 'Service', { spec: { selector: { app: 'web' }, ...spec } });
}

function newApplier(): Applier {
  return new Applier({ client: fixture.client, clock: systemClock, metrics: noMetrics });
}

/** Applies twice. @returns what was asked of the server the second time, when its cache is up to date */
async function again(desired: KubernetesObject): Promise<readonly string[]> {
  const outcome = await fixture.apply(desired, undefined);
  if (!('object' in outcome)) throw new Error(outcome.message);
  const { apiVersion, kind, metadata } = outcome.object;
  const slash = apiVersion.indexOf('/');
  const [group, version] = slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  fixture.client.takeRequests();
  await fixture.apply(desired, await fixture.liveOf({ group, version, kind }, metadata.name ?? ''));
  return fixture.client.takeRequests();
}

describe('what a server prints otherwise, or not at all, is applied once', () => {
  it.each<[string, () => KubernetesObject]>([
    ['labels: {}', () => ({ ...fixture.configMap({}), metadata: { ...fixture.configMap({}).metadata, labels: {} } })],
    ['data: null', () => object('v1', 'ConfigMap', { data: null })],
    [
      'subjects: []',
      () =>
        object('rbac.authorization.k8s.io/v1', 'RoleBinding', {
          subjects: [],
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'some' },
        }),
    ],
    [
      'creationTimestamp: null',
      () => ({
        ...fixture.configMap({ a: '1' }),
        metadata: {
          ...fixture.configMap({}).metadata,
          creationTimestamp: null,
        } as unknown as KubernetesObject['metadata'],
      }),
    ],
    ['env: []', () => withContainer(fixture.deployment(), { env: [] })],
    ['cpu: 1000m', () => withContainer(fixture.deployment(), { resources: { limits: { cpu: '1000m' } } })],
    ['replicas: null', () => withSpec(fixture.deployment(), { replicas: null })],
    ['a status', () => ({ ...fixture.deployment(), status: { replicas: 5 } })],
    ['a port without its protocol', () => service({ ports: [{ port: 80 }] })],
    ['stringData', () => object('v1', 'Secret', { stringData: { a: 'b' }, type: 'Opaque' })],
    [
      'a null in a list',
      () => withContainer(fixture.deployment(), { env: [{ name: 'A', value: '1', valueFrom: null }] }),
    ],
  ])('%s', async (_, make) => {
    expect(await again(make())).toEqual([]);
  });

  it('data arrives exactly', async () => {
    const data = {
      next: 'a\u0085b',
      separators: 'a \u2028 b \u2029 c',
      controls: '\u007f\u0080\u009f\u001b\ufeff\ufffe\uffff\t',
      astral: '😀',
      yaml: 'yes: no\n- "x"\n# none',
    };
    expect(await again(fixture.configMap(data))).toEqual([]);
    expect((await fixture.liveOf(CONFIG_MAP, 'settings'))['data']).toEqual(data);
  });
});

describe('what is not sent', () => {
  it('is more than 1 MiB', async () => {
    await expect(fixture.apply(fixture.configMap({ a: 'x'.repeat(1024 * 1024) }), undefined)).rejects.toThrow(
      /ConfigMap .*settings is 1\.00 MiB; an API server takes at most 1 MiB/,
    );
    expect(fixture.client.takeRequests()).toEqual(['get ConfigMap/settings']);
  });

  it('is text that no server stores', async () => {
    await expect(fixture.apply(fixture.configMap({ a: '\ud83d' }), undefined)).rejects.toThrow(UnsendableError);
  });

  it('is what was refused already, until something that counts changes', async () => {
    const applier = newApplier();
    const live = await fixture.created(fixture.deployment());
    const request = {
      desired: withContainer(fixture.deployment(), { colour: 'red' }),
      owner: fixture.owner,
      write: asAtoll,
    };
    await expect(applier.apply({ ...request, live })).rejects.toThrow(UnknownFieldError);
    await adminClient(CLUSTER).update({ ...live, status: { replicas: 1 } }, asController, { subresource: 'status' });
    const after = await fixture.liveOf(DEPLOYMENT, 'web');
    expect(after.metadata.resourceVersion).not.toBe(live.metadata.resourceVersion);
    await expect(applier.apply({ ...request, live: after })).rejects.toThrow(UnknownFieldError);
    expect(fixture.client.takeRequests()).toEqual(['apply Deployment/web']);
    const scaled = await updateAs(asController, withSpec(after, { minReadySeconds: 5 }));
    await expect(applier.apply({ ...request, live: scaled })).rejects.toThrow(UnknownFieldError);
    expect(fixture.client.takeRequests()).toEqual(['apply Deployment/web']);
  });
});

describe('a refusal', () => {
  it.each<[string, () => KubernetesObject]>([
    ['an unknown field', () => withSpec(fixture.deployment(), { newField: 1 })],
    [
      'two items of one key',
      () =>
        withContainer(fixture.deployment(), {
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '2' },
          ],
        }),
    ],
  ])('of %s is the sender’s fault', async (_, make) => {
    await expect(fixture.apply(make(), undefined)).rejects.toThrow(UnknownFieldError);
  });

  it('for want of a namespace, or because it is going, is told as such', async () => {
    const elsewhere = { ...fixture.configMap({}), metadata: { name: 'settings', namespace: uniqueName('none') } };
    const missing = await fixture.apply(elsewhere, undefined).catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(NotFoundError);
    const namespace = { gvk: { group: '', version: 'v1', kind: 'Namespace' }, name: fixture.namespace };
    await fixture.remove(namespace);
    await expect(fixture.apply(fixture.configMap({}), undefined)).rejects.toThrow(NamespaceTerminatingError);
  });

  it('of a kind whose definition is not established yet passes', async () => {
    const group = `${uniqueName('g')}.example.com`;
    const thing = { ...object(`${group}/v1`, 'Thing', { spec: {} }) };
    await expect(fixture.apply(thing, undefined)).rejects.toThrow(KindNotFoundError);
    await adminClient(CLUSTER).apply(definition(group), asTester);
    const outcome = await eventually(
      async () => {
        try {
          return await fixture.apply(thing, undefined);
        } catch (error) {
          if (error instanceof KindNotFoundError) return undefined;
          throw error;
        }
      },
      { timeout: 60_000 },
    );
    expect(outcome.result).toBe('created');
    await removeDefinition(group);
  });
});

function definition(group: string): KubernetesObject {
  const placement = { type: 'object', properties: { clusters: { type: 'array', items: { type: 'string' } } } };
  const spec = { type: 'object', required: ['placement'], properties: { placement, other: { type: 'string' } } };
  const openAPIV3Schema = { type: 'object', properties: { spec: { ...spec, required: [] } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

async function removeDefinition(group: string): Promise<void> {
  const gvk = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' };
  await fixture.remove({ gvk, name: `things.${group}` });
}

describe('a map that becomes empty', () => {
  it('of a custom resource is emptied first, because a server would make null of it', async () => {
    const group = `${uniqueName('g')}.example.com`;
    await adminClient(CLUSTER).apply(definition(group), asTester);
    const thing = (placement: object): KubernetesObject =>
      object(`${group}/v1`, 'Thing', { spec: { placement, other: 'x' } });
    await eventually(
      () => fixture.apply(thing({ clusters: ['a'] }), undefined).then(({ result }) => result === 'created'),
      {
        timeout: 60_000,
      },
    ).catch(() => undefined);
    const gvk = { group, version: 'v1', kind: 'Thing' };
    const live = await fixture.liveOf(gvk, 'it');
    fixture.client.takeRequests();
    await fixture.apply(thing({}), live);
    expect(fixture.client.takeRequests()).toEqual(['patch Thing/it', 'apply Thing/it']);
    const after = await fixture.liveOf(gvk, 'it');
    expect(after['spec']).toEqual({ placement: {}, other: 'x' });
    await fixture.apply(thing({}), after);
    expect(fixture.client.takeRequests()).toEqual([]);
    await removeDefinition(group);
  });

  it('of a built-in kind takes one apply', async () => {
    const live = await fixture.created(fixture.configMap({ a: '1' }));
    await fixture.apply(fixture.configMap({}), live);
    expect(fixture.client.takeRequests()).toEqual(['apply ConfigMap/settings']);
    expect(await fixture.liveOf(CONFIG_MAP, 'settings')).not.toHaveProperty('data.a');
  });
});

describe('sets that several write to', () => {
  it('are joined, and only ours is taken out again', async () => {
    const withFinalizers = (finalizers: readonly string[]): KubernetesObject => ({
      ...object('v1', 'ConfigMap', {}),
      metadata: { name: 'it', namespace: fixture.namespace, finalizers },
    });
    await fixture.created(withFinalizers(['example.com/ours']));
    await adminClient(CLUSTER).apply(withFinalizers(['example.com/theirs']), asController);
    const both = await fixture.liveOf(CONFIG_MAP, 'it');
    expect(both.metadata.finalizers).toEqual(expect.arrayContaining(['example.com/ours', 'example.com/theirs']));
    await fixture.apply(object('v1', 'ConfigMap', {}), both);
    expect((await fixture.liveOf(CONFIG_MAP, 'it')).metadata.finalizers).toEqual(['example.com/theirs']);
    await adminClient(CLUSTER).apply(object('v1', 'ConfigMap', {}), asController);
  });
});

describe('the first write to an object', () => {
  it('is tied to the version that was looked at, later ones to its identity', async () => {
    const applier = newApplier();
    const live = await fixture.created(fixture.configMap({ a: '1' }));
    await updateAs(asTester, { ...live, data: { ...(live['data'] as object), foreign: 'x' } });
    const request = { owner: fixture.owner, write: asAtoll };
    const first = await applier.apply({ ...request, desired: fixture.configMap({ a: '2' }), live });
    expect(fixture.client.takeRequests()).toEqual([
      'apply ConfigMap/settings',
      'get ConfigMap/settings',
      'apply ConfigMap/settings',
    ]);
    if (!('object' in first)) throw new Error(first.message);
    await updateAs(asTester, { ...first.object, data: { a: '2', foreign: 'y' } });
    await applier.apply({ ...request, desired: fixture.configMap({ a: '3' }), live: first.object });
    expect(fixture.client.takeRequests()).toEqual(['apply ConfigMap/settings']);
  });
});
