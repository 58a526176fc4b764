import { describe, expect, it } from 'vitest';
import { LeaseLostError, done, requeueAfter } from '../../src/kernel/index.ts';
import type { KubernetesObject, PolicyRule } from '../../src/kernel/index.ts';
import { GitSourceFixture, configMapManifest, federatedManifest } from '../support/git-source-fixture.ts';
import { adminClient, asTester, eventually, uniqueName } from '../support/lab.ts';

const git = GitSourceFixture.install();

const configMaps: PolicyRule = {
  apiGroups: [''],
  resources: ['configmaps'],
  verbs: ['get', 'create', 'patch', 'delete'],
};

function revisionOf(object: KubernetesObject | undefined): string | undefined {
  return object?.metadata.annotations?.['atoll.dev/source-revision'];
}

describe('a commit', () => {
  it('reaches the hub as atoll-git, named on every object and in the status', async () => {
    await git.create();
    const revision = await git.sync({
      'sessions.yaml': federatedManifest('sessions'),
      'more/cache.yaml': federatedManifest('cache'),
    });
    for (const name of ['sessions', 'cache']) {
      const object = await git.federated(name);
      expect(revisionOf(object)).toBe(revision);
      expect(object?.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toContainEqual([
        'atoll-git',
        'Apply',
      ]);
    }
    expect((await git.source())?.status).toMatchObject({
      observedRevision: revision,
      attemptedRevision: revision,
      appliedRevision: revision,
      inventory: { objects: 2 },
    });
    expect(await git.ready()).toBe(`True/Succeeded applied revision ${revision}`);
  });

  it('is looked for at the interval, and writes nothing when it is applied', async () => {
    await git.create({ interval: '30s' });
    await git.sync({ 'sessions.yaml': federatedManifest('sessions') });
    git.writes();
    expect(await git.reconcile()).toEqual(requeueAfter(30_000));
    expect(git.writes()).toEqual([]);
  });

  it('leaves alone what it does not change, in another file or above it', async () => {
    await git.create({ path: 'apps' });
    const first = await git.sync({
      'apps/sessions.yaml': federatedManifest('sessions'),
      'apps/cache.yaml': federatedManifest('cache'),
    });
    const before = await git.federated('cache');
    const second = await git.sync({
      'apps/sessions.yaml': federatedManifest('sessions', { replicas: 3 }),
      'README.md': 'x',
    });
    expect(revisionOf(await git.federated('sessions'))).toBe(second);
    expect(revisionOf(await git.federated('cache'))).toBe(first);
    expect((await git.federated('cache'))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  });

  it('with one bad manifest applies nothing, keeps the last one, and says file, line and why', async () => {
    await git.create();
    const good = await git.sync({ 'sessions.yaml': federatedManifest('sessions') });
    const bad = await git.sync({
      'sessions.yaml': federatedManifest('sessions', { replicas: 3 }),
      'cache.yaml': federatedManifest('cache', { replicas: -3 }),
    });
    expect(revisionOf(await git.federated('sessions'))).toBe(good);
    expect(await git.federated('cache')).toBeUndefined();
    expect((await git.source())?.status).toMatchObject({ appliedRevision: good, attemptedRevision: bad });
    expect(await git.ready()).toMatch(
      /^False\/InvalidManifests cache\.yaml:8:\d+: .*replicas.*\(kept revision main@sha1:/,
    );
  });

  it('that the hub refuses applies nothing, and says which manifest and why', async () => {
    await git.create({ serviceAccountName: 'gitops' });
    await git.grant(configMaps);
    const good = await git.sync({ 'a.yaml': configMapManifest('a') });
    await git.sync({
      'a.yaml': configMapManifest('a', 'changed'),
      'b.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {"not/a/key": x}\n',
    });
    expect(revisionOf(await git.configMap('a'))).toBe(good);
    expect(await git.ready()).toMatch(/^False\/Rejected b\.yaml:1 ConfigMap b: .*not\/a\/key/);
  });

  it('takes away what it no longer has, but not what is kept by annotation', async () => {
    await git.create({ serviceAccountName: 'gitops' });
    await git.grant(configMaps);
    const kept = configMapManifest('kept', 'x', 'atoll.dev/prune: disabled');
    await git.sync({ 'a.yaml': configMapManifest('a'), 'b.yaml': configMapManifest('b'), 'kept.yaml': kept });
    await git.sync({ 'b.yaml': undefined, 'kept.yaml': undefined });
    expect(await git.configMap('a')).toBeDefined();
    expect(await git.configMap('b')).toBeUndefined();
    expect(await git.configMap('kept')).toBeDefined();
    expect((await git.source())?.status?.inventory).toEqual({ objects: 1 });
  });

  it('takes nothing away that somebody else has put in its place', async () => {
    await git.create({ serviceAccountName: 'gitops' });
    await git.grant(configMaps);
    await git.sync({ 'a.yaml': configMapManifest('a'), 'b.yaml': configMapManifest('b') });
    const old = (await git.configMap('b')) as KubernetesObject;
    const ref = { gvk: { group: '', version: 'v1', kind: 'ConfigMap' }, namespace: git.namespace, name: 'b' };
    await adminClient('hub').delete(ref, { uid: old.metadata.uid ?? '' }, asTester);
    const { annotations = {}, labels = {} } = old.metadata;
    const metadata = { name: 'b', namespace: git.namespace, annotations, labels };
    await adminClient('hub').create({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, asTester);
    await git.sync({ 'b.yaml': undefined });
    expect(await git.configMap('b')).toBeDefined();
  });

  it('takes nothing away where pruning is off', async () => {
    await git.create({ prune: false });
    await git.sync({ 'sessions.yaml': federatedManifest('sessions'), 'cache.yaml': federatedManifest('cache') });
    await git.sync({ 'cache.yaml': undefined });
    expect(await git.federated('cache')).toBeDefined();
  });

  it('may bring a kind and an object of it', async () => {
    const group = `${uniqueName('g')}.example.org`;
    await git.create({ serviceAccountName: 'gitops' });
    await git.grant({ apiGroups: [group], resources: ['things'], verbs: ['get', 'create', 'patch', 'delete'] });
    const unbind = await bindToAll('gitops', git.namespace, {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      verbs: ['get', 'create', 'patch', 'delete'],
    });
    const thing = `apiVersion: ${group}/v1\nkind: Thing\nmetadata: {name: one}\n`;
    await git.repository.commit({ 'thing.yaml': thing, 'z-definition.yaml': definitionOf(group) }, 'Add');
    await eventually(async () => {
      await git.reconcile();
      return (await git.ready()).startsWith('True');
    });
    expect((await git.source())?.status?.inventory).toEqual({ objects: 2 });
    await git.delete();
    await eventually(async () => (await git.reconcile()) === done);
    await unbind();
  });

  it('is applied again where somebody changed what it says', async () => {
    await git.create();
    const revision = await git.sync({ 'sessions.yaml': federatedManifest('sessions') });
    const live = (await git.federated('sessions')) as KubernetesObject;
    const spec = { ...(live['spec'] as object), template: { spec: { replicas: 9 } } };
    await adminClient('hub').update({ ...live, spec }, { ...asTester, fieldManager: 'kubectl-edit' });
    await git.reconcile();
    expect(await git.federated('sessions')).toMatchObject({ spec: { template: { spec: { replicas: 1 } } } });
    expect(revisionOf(await git.federated('sessions'))).toBe(revision);
  });

  it('is not applied once the lease is lost', async () => {
    await git.create();
    await git.sync({ 'sessions.yaml': federatedManifest('sessions') });
    await git.repository.commit({ 'sessions.yaml': federatedManifest('sessions', { replicas: 3 }) }, 'Change');
    const guard = (): void => {
      throw new LeaseLostError('lost');
    };
    await expect(git.reconcile(guard)).rejects.toThrow(LeaseLostError);
    expect(await git.federated('sessions')).toMatchObject({ spec: { template: { spec: { replicas: 1 } } } });
  });
});

async function bindToAll(account: string, namespace: string, rule: PolicyRule): Promise<() => Promise<void>> {
  const name = uniqueName('test');
  const group = 'rbac.authorization.k8s.io';
  const base = { apiVersion: `${group}/v1`, metadata: { name } };
  const hub = adminClient('hub');
  const created = await Promise.all([
    hub.create({ ...base, kind: 'ClusterRole', rules: [rule] }, asTester),
    hub.create(
      {
        ...base,
        kind: 'ClusterRoleBinding',
        roleRef: { apiGroup: group, kind: 'ClusterRole', name },
        subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
      },
      asTester,
    ),
  ]);
  return async () => {
    for (const { kind, metadata } of created) {
      await hub.delete({ gvk: { group, version: 'v1', kind }, name }, { uid: metadata.uid ?? '' }, asTester);
    }
  };
}

function definitionOf(group: string): string {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      names: { kind: 'Thing', plural: 'things' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
}
