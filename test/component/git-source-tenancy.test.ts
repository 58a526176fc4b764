import { describe, expect, it } from 'vitest';
import { done, requeueAfter } from '../../src/kernel/index.ts';
import type { PolicyRule } from '../../src/kernel/index.ts';
import { GitSourceFixture, configMapManifest, federatedManifest } from '../support/git-source-fixture.ts';
import { adminClient, asTester, auditEvents, createNamespace, lab, labCluster } from '../support/lab.ts';

const git = GitSourceFixture.install();

const configMaps: PolicyRule = {
  apiGroups: [''],
  resources: ['configmaps'],
  verbs: ['get', 'create', 'patch', 'delete'],
};

/** The source as it is, but acting as a service account. */
function ownSourceManifest(serviceAccountName: string): string {
  return `apiVersion: federation.atoll.dev/v1
kind: GitSource
metadata: {name: apps}
spec: {url: "${git.repository.url}", secretRef: {name: git}, serviceAccountName: ${serviceAccountName}}
`;
}

describe('a source without a service account', () => {
  it('may not write outside of its namespace', async () => {
    const other = await createNamespace('hub');
    await git.create();
    await git.sync({ 'a.yaml': federatedManifest('here'), 'b.yaml': federatedManifest('there', { namespace: other }) });
    expect(await git.ready()).toMatch(
      new RegExp(
        `^False/NotAllowed b\\.yaml:1 FederatedRedisCluster ${other}/there: is outside namespace ${git.namespace}`,
      ),
    );
    expect(await git.federated('here')).toBeUndefined();
  });

  it.each([
    ['a ConfigMap', () => configMapManifest('a'), 'ConfigMap a'],
    ['its own source, which Atoll may write', () => ownSourceManifest('gitops'), 'GitSource apps'],
  ])('may write federated objects only, not %s', async (_, manifest, what) => {
    await git.create();
    await git.sync({ 'a.yaml': manifest() });
    expect(await git.ready()).toContain(
      `False/NotAllowed a.yaml:1 ${what}: is no federated object, which needs spec.serviceAccountName`,
    );
    expect((await git.source())?.spec.serviceAccountName).toBeUndefined();
  });
});

describe('a source with a service account', () => {
  it('writes as that, and nothing as Atoll', async () => {
    await git.create({ serviceAccountName: 'gitops' });
    await git.grant(configMaps);
    await git.sync({ 'a.yaml': configMapManifest('a') });
    await git.sync({ 'a.yaml': undefined });
    const events = await auditEvents(labCluster('hub'));
    const own = events.filter(({ objectRef }) => objectRef?.namespace === git.namespace && objectRef.name === 'a');
    expect(own.map(({ verb }) => verb)).toEqual(expect.arrayContaining(['patch', 'delete']));
    const identities = new Set(own.map(({ impersonatedUser }) => impersonatedUser?.username));
    expect([...identities]).toEqual([`system:serviceaccount:${git.namespace}:gitops`]);
  });

  it('may not write what that may not', async () => {
    await git.create({ serviceAccountName: 'gitops' });
    await git.grant(configMaps);
    await git.sync({ 'a.yaml': configMapManifest('a'), 'b.yaml': federatedManifest('b') });
    expect(await git.ready()).toMatch(/^False\/NotAllowed b\.yaml:1 FederatedRedisCluster b: .*gitops/);
    expect(await git.configMap('a')).toBeUndefined();
  });
});

describe('two sources', () => {
  it('do not take an object from each other: the first keeps it', async () => {
    await git.create({ serviceAccountName: 'gitops' });
    await git.grant(configMaps);
    const metadata = {
      name: 'a',
      namespace: git.namespace,
      annotations: {
        'atoll.dev/owner': JSON.stringify({
          installation: 'test',
          kind: 'GitSource.federation.atoll.dev',
          namespace: git.namespace,
          name: 'first',
          uid: 'u',
          object: `/ConfigMap/${git.namespace}/a`,
        }),
      },
    };
    await adminClient('hub').create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { of: 'first' } }, asTester);
    await git.sync({ 'a.yaml': configMapManifest('a') });
    expect(await git.ready()).toMatch(/^False\/Conflict a\.yaml:1 ConfigMap a: .* belongs to .*\/first/);
    expect(await git.configMap('a')).toMatchObject({ data: { of: 'first' } });
  });
});

describe('the credentials of a source', () => {
  it.each([
    [
      'its Secret is missing',
      { secretRef: { name: 'missing' } },
      /^False\/SecretNotFound Secret .*\/missing does not exist/,
    ],
    ['they are missing', { secretRef: { name: 'empty' } }, /^False\/AuthenticationFailed/],
  ])('are told to be wrong when %s', async (_, spec, expected) => {
    const { ca } = lab().git;
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'empty', namespace: git.namespace } };
    await adminClient('hub').create({ ...secret, stringData: { 'ca.crt': ca } }, asTester);
    await git.create(spec);
    await git.sync({ 'a.yaml': federatedManifest('a') });
    expect(await git.ready()).toMatch(expected);
  });
});

describe('a source that is deleted', () => {
  it('takes with it what it applied', async () => {
    await git.create();
    await git.sync({ 'a.yaml': federatedManifest('a'), 'b.yaml': federatedManifest('b') });
    await git.delete();
    expect(await git.reconcile()).toEqual(requeueAfter(2000));
    expect(await git.reconcile()).toEqual(done);
    expect([await git.source(), await git.federated('a'), await git.federated('b')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('leaves it where pruning is off', async () => {
    await git.create({ prune: false });
    await git.sync({ 'a.yaml': federatedManifest('a') });
    await git.delete();
    expect(await git.reconcile()).toEqual(done);
    expect(await git.source()).toBeUndefined();
    expect(await git.federated('a')).toBeDefined();
  });

  it('says so when it may not take it away any more, and is gone when it may', async () => {
    await git.create({ serviceAccountName: 'gitops' });
    await git.grant(configMaps);
    await git.sync({ 'a.yaml': configMapManifest('a') });
    await git.grant();
    await git.delete();
    expect(await git.reconcile()).toEqual(requeueAfter(60_000));
    expect(await git.ready()).toMatch(/^False\/Forbidden what it applied cannot be removed/);
    await git.grant(configMaps);
    await git.reconcile();
    expect(await git.reconcile()).toEqual(done);
    expect([await git.source(), await git.configMap('a')]).toEqual([undefined, undefined]);
  });

  it('does not hold its namespace, whose rights go first', async () => {
    await git.create({ serviceAccountName: 'gitops' });
    await git.grant(configMaps);
    await git.sync({ 'a.yaml': configMapManifest('a') });
    await git.grant();
    const gvk = { group: '', version: 'v1', kind: 'Namespace' };
    const namespace = await adminClient('hub').get({ gvk, name: git.namespace });
    await adminClient('hub').delete({ gvk, name: git.namespace }, { uid: namespace?.metadata.uid ?? '' }, asTester);
    await git.delete();
    expect(await git.reconcile()).toEqual(done);
    expect(await git.source()).toBeUndefined();
  });
});
