import { describe, expect, it } from 'vitest';
import { requeueAfter } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { GitSourceFixture, configMapManifest, federatedManifest } from '../support/git-source-fixture.ts';
import { adminClient, asTester, eventually, uniqueName } from '../support/lab.ts';

const git = GitSourceFixture.install();

const configMaps = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'patch', 'delete'] };

async function conditionOf(type: string): Promise<string> {
  const condition = (await git.source())?.status?.conditions?.find((found) => found.type === type);
  return condition === undefined ? 'none' : `${condition.status}/${condition.reason} ${condition.message}`;
}

describe('a commit with something that cannot be applied yet', () => {
  it('waits for the kind that is missing, and brings the rest', async () => {
    const group = `${uniqueName('g')}.example.org`;
    await git.create({ serviceAccountName: 'gitops' });
    await git.grant(configMaps, { apiGroups: [group], resources: ['things'], verbs: ['get', 'create', 'patch'] });
    const thing = `apiVersion: ${group}/v1\nkind: Thing\nmetadata: {name: one}\n`;
    await git.repository.commit({ 'a-thing.yaml': thing, 'b.yaml': configMapManifest('b') }, 'Add');
    expect(await git.reconcile()).toEqual(requeueAfter(5000));
    expect(await git.ready()).toMatch(/^False\/KindNotFound a-thing\.yaml:1 Thing one/);
    expect(await git.configMap('b')).toBeDefined();

    const definition = await adminClient('hub').create(definitionOf(group), asTester);
    await eventually(async () => {
      await git.reconcile();
      return (await git.ready()).startsWith('True');
    });
    const { uid = '', name = '' } = definition.metadata;
    const gvk = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' };
    await adminClient('hub').delete({ gvk, name }, { uid }, asTester);
  });

  it('brings a kind without namespaces and an object of it at once, in the right place', async () => {
    const group = `${uniqueName('g')}.example.org`;
    await git.create({ serviceAccountName: 'gitops' });
    const definition = definitionOf(group, 'Cluster');
    const unbind = await git.grantEverywhere(
      { apiGroups: [group], resources: ['things'], verbs: ['get', 'create', 'patch', 'delete'] },
      {
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        verbs: ['get', 'create', 'patch', 'delete'],
      },
    );
    const thing = `apiVersion: ${group}/v1\nkind: Thing\nmetadata: {name: one}\n`;
    await git.repository.commit({ 'a-thing.yaml': thing, 'z.yaml': JSON.stringify(definition) }, 'Add');
    await eventually(async () => {
      await git.reconcile();
      return (await git.ready()).startsWith('True');
    });
    const found = await adminClient('hub').get({ gvk: { group, version: 'v1', kind: 'Thing' }, name: 'one' });
    expect(found?.metadata.namespace).toBeUndefined();
    expect((await git.source())?.status?.inventory).toEqual({ objects: 2 });
    await git.sync({ 'a-thing.yaml': undefined });
    expect(await git.ready()).toMatch(/^True/);
    await unbind();
  });

  it('waits for a webhook that is not up, and brings the rest', async () => {
    await git.create({ serviceAccountName: 'gitops' });
    await git.grant(configMaps);
    const webhook = await adminClient('hub').create(webhookOf(git.namespace), asTester);
    await git.repository.commit({ 'a.yaml': configMapManifest('guarded'), 'b.yaml': federatedManifest('b') }, 'Add');
    await git.grant(configMaps, {
      apiGroups: ['federation.atoll.dev'],
      resources: ['federatedredisclusters'],
      verbs: ['get', 'create', 'patch', 'delete'],
    });
    await eventually(async () => {
      expect(await git.reconcile()).toEqual(requeueAfter(5000));
      return (await git.ready()).startsWith('False/WebhookUnavailable');
    });
    expect(await git.federated('b')).toBeDefined();
    const { uid = '', name = '' } = webhook.metadata;
    const gvk = { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'ValidatingWebhookConfiguration' };
    await adminClient('hub').delete({ gvk, name }, { uid }, asTester);
    await eventually(async () => {
      await git.reconcile();
      return (await git.ready()).startsWith('True');
    });
    expect(await git.configMap('guarded')).toBeDefined();
  });
});

describe('a commit that empties a map', () => {
  it('is applied, and then in sync', async () => {
    await git.create();
    await git.sync({ 'a.yaml': placed('a', { exclude: ['nowhere'] }) });
    const before = (await git.federated('a')) as KubernetesObject & { spec: { placement: object } };
    expect(before.spec.placement).not.toEqual({});
    await git.sync({ 'a.yaml': placed('a', {}) });
    expect(await git.ready()).toMatch(/^True/);
    expect(await git.federated('a')).toMatchObject({ spec: { placement: {} } });
    git.writes();
    await git.reconcile();
    expect(git.writes()).toEqual([]);
  });
});

describe('a field of a hub object that another applier holds', () => {
  it('is left and told, as long as it holds it', async () => {
    await git.create();
    await git.sync({ 'a.yaml': placed('a', {}) });
    const live = (await git.federated('a')) as KubernetesObject;
    const { apiVersion, kind } = live;
    const metadata = { name: 'a', namespace: git.namespace };
    const rival = { ...asTester, fieldManager: 'rival' };
    const spec = { template: { spec: { replicas: 9 } } };
    await adminClient('hub').apply({ apiVersion, kind, metadata, spec }, rival, { force: true });
    git.writes();
    await git.reconcile();
    expect(await conditionOf('FieldsLeft')).toMatch(
      /^True\/FieldsLeft a\.yaml:1 FederatedRedisCluster .*a: \.spec\.template\.spec\.replicas \(rival\)$/,
    );
    expect(git.writes()).toEqual([expect.stringContaining('GitSource') as string]);
    await git.reconcile();
    expect(git.writes()).toEqual([]);
    await adminClient('hub').apply({ apiVersion, kind, metadata }, rival);
    await git.reconcile();
    expect(await git.federated('a')).toMatchObject({ spec: { template: { spec: { replicas: 1 } } } });
    await git.reconcile();
    expect(await conditionOf('FieldsLeft')).toBe('none');
  });
});

function placed(name: string, placement: object): string {
  return JSON.stringify({
    apiVersion: 'federation.atoll.dev/v1',
    kind: 'FederatedRedisCluster',
    metadata: { name },
    spec: { template: { spec: { replicas: 1, version: '8.2' } }, placement },
  });
}

function definitionOf(group: string, scope = 'Namespaced'): KubernetesObject {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope,
      names: { kind: 'Thing', plural: 'things' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

/** Asked about the ConfigMaps of a namespace, and never there. */
function webhookOf(namespace: string): KubernetesObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: namespace },
    webhooks: [
      {
        name: 'away.example.com',
        clientConfig: { url: 'https://127.0.0.1:1/' },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        objectSelector: {},
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        matchConditions: [{ name: 'guarded', expression: "object.metadata.name == 'guarded'" }],
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      },
    ],
  };
}
