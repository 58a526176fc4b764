import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { customResourceDefinition, publishedKinds, validateObject, type PublishedKind } from '../../src/api/index.ts';
import { gvkOf, type KubernetesObject } from '../../src/kernel/index.ts';
import { BadRequestError, InvalidError } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, eventually, lab, labCluster } from '../support/lab.ts';
import { changeRuleMessages, federated, gitSource, memberCluster, redisCluster, ruleExamples } from './crd-rules.ts';

const run = promisify(execFile);
const asInstaller = { ...asTester, fieldManager: 'atoll-crds' };
const namespaces = new Map<string, string>();

function clusterOf(kind: string): string {
  return publishedKinds.find(({ gvk }) => gvk.kind === kind)?.location === 'member' ? 'eu-1' : 'hub';
}

/** The object in a namespace of this file, if its kind has one. */
function placed(object: KubernetesObject): KubernetesObject {
  const namespace = object.kind === 'MemberCluster' ? undefined : namespaces.get(clusterOf(object.kind));
  return { ...object, metadata: { ...object.metadata, ...(namespace !== undefined && { namespace }) } };
}

async function create(object: KubernetesObject, dryRun: boolean): Promise<KubernetesObject> {
  return adminClient(clusterOf(object.kind)).create(placed(object), asTester, { dryRun });
}

async function get(object: KubernetesObject): Promise<KubernetesObject | undefined> {
  const { name = '', namespace } = placed(object).metadata;
  return adminClient(clusterOf(object.kind)).get({ gvk: gvkOf(object), name, ...(namespace && { namespace }) });
}

async function writeStatus(object: KubernetesObject, status: Record<string, unknown>): Promise<void> {
  const write = { ...asTester, fieldManager: 'atoll-status' };
  const { apiVersion, kind, metadata } = placed(object);
  await adminClient(clusterOf(kind)).apply({ apiVersion, kind, metadata, status }, write, { subresource: 'status' });
}

async function kubectl(cluster: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(lab().kubectl, [`--kubeconfig=${labCluster(cluster).kubeconfigPath}`, ...args]);
  return stdout;
}

async function definition(kind: PublishedKind): Promise<KubernetesObject | undefined> {
  const gvk = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' };
  return adminClient(clusterOf(kind.gvk.kind)).get({ gvk, name: `${kind.plural}.${kind.gvk.group}` });
}

async function conditions(kind: PublishedKind): Promise<Record<string, string>> {
  const status = (await definition(kind))?.['status'] as
    { conditions?: { type: string; status: string }[] } | undefined;
  return Object.fromEntries((status?.conditions ?? []).map(({ type, status: holds }) => [type, holds]));
}

beforeAll(async () => {
  for (const kind of publishedKinds) {
    await adminClient(clusterOf(kind.gvk.kind)).apply(customResourceDefinition(kind), asInstaller, { force: true });
  }
  // Established comes a moment before the kind is served.
  for (const { gvk } of publishedKinds) {
    await eventually(async () => adminClient(clusterOf(gvk.kind)).list(gvk), { message: `${gvk.kind} was not served` });
  }
  for (const cluster of ['hub', 'eu-1']) namespaces.set(cluster, await createNamespace(cluster));
});

// The lab is shared: whoever runs next shall not find work here.
afterAll(async () => {
  const leave = ['--all', '--ignore-not-found', '--wait=false', '--namespace'];
  await kubectl('hub', 'delete', 'frc,gitsrc', ...leave, namespaces.get('hub') ?? '');
  await kubectl('eu-1', 'delete', 'rdc', ...leave, namespaces.get('eu-1') ?? '');
});

describe.each(publishedKinds.map((kind) => [kind.gvk.kind, kind] as const))('the CRD of %s', (_, kind) => {
  it('is structural, and its names are free', async () => {
    expect(await conditions(kind)).toEqual({ NamesAccepted: 'True', Established: 'True' });
  });

  it('is kept by the API server as it was sent', async () => {
    const spec = (await definition(kind))?.['spec'] as { versions: unknown[] } | undefined;
    expect(spec?.versions).toEqual(customResourceDefinition(kind).spec.versions);
  });

  it('is explained by kubectl, field by field', async () => {
    const { spec } = customResourceDefinition(kind).spec.versions[0]?.schema.openAPIV3Schema.properties ?? {};
    const text = await eventually(async () => kubectl(clusterOf(kind.gvk.kind), 'explain', `${kind.plural}.spec`));
    const explained = text.replaceAll(/\s+/g, ' ');
    for (const [name, { description = '' }] of Object.entries(spec?.properties ?? {})) {
      expect(explained, name).toContain(description);
    }
  });

  it('has an example for each of its rules', () => {
    const text = JSON.stringify(customResourceDefinition(kind));
    const rules = [...text.matchAll(/"message":("(?:[^"\\]|\\.)*")/g)].map(
      ([, json = '']) => JSON.parse(json) as string,
    );
    const shown = ruleExamples.filter((example) => example.kind === kind.gvk.kind).map(({ message }) => message);
    expect(rules.filter((rule) => !shown.includes(rule) && !changeRuleMessages.includes(rule))).toEqual([]);
  });
});

describe.each(ruleExamples)('$kind: $message', ({ accepted, refused, message }) => {
  it('holds', async () => {
    await create(accepted, true);
    expect(validateObject(placed(accepted))).toEqual([]);
  });

  it('is enforced', async () => {
    const answer = create(refused, true);
    await expect(answer).rejects.toThrow(InvalidError);
    await expect(answer).rejects.toThrow(message);
    expect(validateObject(placed(refused)).map(({ path, message: text }) => `${path} ${text}`)).toContainEqual(
      expect.stringContaining(message),
    );
  });
});

describe('an API server with the CRDs', () => {
  it.each([
    ['replcias', redisCluster({ replcias: 3 })],
    ['replcias', federated({ template: { spec: { replcias: 3 } } })],
    ['intervall', gitSource({ intervall: '1m' })],
    ['locale', memberCluster('eu-1', { kubeconfigSecretRef: { name: 'a' }, locale: {} })],
  ])('refuses the unknown field %s of %j', async (field, object) => {
    const answer = create(object, true);
    await expect(answer).rejects.toThrow(BadRequestError);
    await expect(answer).rejects.toThrow(field);
    expect(validateObject(placed(object))).toHaveLength(1);
  });

  it.each([
    ['a changed size', { size: '2Gi' }],
    ['a changed class', { storageClassName: 'slow' }],
  ])('refuses %s of volumes that exist, in the member and in the template', async (_, change) => {
    const storage = { size: '1Gi', storageClassName: 'fast' };
    const objects = (spec: Record<string, unknown>): KubernetesObject[] => [
      redisCluster(spec, 'fixed'),
      federated({ template: { spec } }, 'fixed'),
    ];
    for (const object of objects({ storage })) {
      await adminClient(clusterOf(object.kind)).apply(placed(object), asTester);
    }
    for (const object of objects({ storage: { ...storage, ...change } })) {
      const answer = adminClient(clusterOf(object.kind)).apply(placed(object), asTester);
      await expect(answer).rejects.toThrow('cannot be changed after creation');
    }
  });

  it('fills in the defaults of a RedisCluster', async () => {
    expect((await create(redisCluster(), true))['spec']).toEqual({
      replicas: 3,
      version: '8.2',
      storage: { size: '1Gi', onDelete: 'Delete' },
    });
  });

  it('fills in the defaults of a GitSource', async () => {
    expect((await create(gitSource({ suspend: undefined }), true))['spec']).toEqual({
      url: 'https://git.example.com/shop.git',
      ref: { branch: 'main' },
      path: '',
      interval: '1m',
      timeout: '60s',
      prune: true,
      suspend: false,
    });
  });

  it('fills in the defaults of a MemberCluster', async () => {
    expect((await create(memberCluster('eu-1', { kubeconfigSecretRef: { name: 'eu-1' } }), true))['spec']).toEqual({
      connection: { kubeconfigSecretRef: { name: 'eu-1', key: 'kubeconfig' } },
      installCRDs: true,
    });
  });

  it('fills in the defaults of a federated object, but none in its template', async () => {
    expect((await create(federated({ suspend: undefined }), true))['spec']).toEqual({
      template: { spec: {} },
      placement: {},
      policy: {
        adoption: 'Fail',
        updates: 'Always',
        conflicts: 'Report',
        deletion: { policy: 'Delete', adopted: 'Orphan' },
      },
      revisionHistoryLimit: 10,
      suspend: false,
    });
  });

  it('keeps a null that is the value of a patch', async () => {
    const patches = [{ op: 'add', path: '/spec/image', value: null }];
    const created = await create(federated({ overrides: [{ name: 'a', selector: {}, patches }] }), true);
    expect((created['spec'] as { overrides: unknown[] }).overrides).toEqual([{ name: 'a', selector: {}, patches }]);
  });

  it.each([gitSource({}, 'unseen'), redisCluster({}, 'unseen'), federated({}, 'unseen')])(
    'shows a $kind that nobody has looked at as not reconciled',
    async (object) => {
      await create(object, false);
      expect((await get(object))?.['status']).toEqual({ observedGeneration: -1 });
    },
  );
});

describe('kubectl get', () => {
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Synced',
    message: 'All is well.',
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const revision = `main@sha1:${'0'.repeat(40)}`;

  async function table(object: KubernetesObject, ...args: string[]): Promise<Record<string, string>> {
    const { metadata } = placed(object);
    const scope = metadata.namespace === undefined ? [] : ['--namespace', metadata.namespace];
    const text = await kubectl(clusterOf(object.kind), 'get', ...args, metadata.name ?? '', ...scope);
    const [head = '', row = ''] = text.trimEnd().split('\n');
    const cells = row.split(/ {2,}/);
    return Object.fromEntries(head.split(/ {2,}/).map((name, index) => [name, cells[index]?.trim() ?? '']));
  }

  it('shows where a federated object stands, and why with -o wide', async () => {
    const object = federated({}, 'shown');
    await create(object, false);
    await writeStatus(object, {
      observedGeneration: 1,
      phase: 'Running',
      sourceRevision: revision,
      clusters: { desired: 3, synced: 2, ready: 2, summary: '2/3' },
      observed: { readyReplicas: 6, currentVersion: '8.2' },
      conditions: [ready],
      placements: [{ cluster: 'eu-1', targetRevision: '', state: 'Synced', observed: { readyReplicas: 3 } }],
    });
    const narrow = { NAME: 'shown', CLUSTERS: '2/3', READY: 'True', VERSION: '8.2', REVISION: revision };
    expect(await table(object, 'frc')).toEqual({ ...narrow, AGE: expect.any(String) as string });
    expect(await table(object, 'frc', '-o', 'wide')).toMatchObject({
      ...narrow,
      PHASE: 'Running',
      MESSAGE: 'All is well.',
    });
  });

  it('shows what a Git source has applied', async () => {
    const object = gitSource({}, 'shown');
    await create(object, false);
    await writeStatus(object, { observedGeneration: 1, appliedRevision: revision, conditions: [ready] });
    expect(await table(object, 'gitsrc')).toMatchObject({
      URL: 'https://git.example.com/shop.git',
      READY: 'True',
      REVISION: revision,
      STATUS: 'All is well.',
    });
  });

  it('shows what runs in a member', async () => {
    const object = redisCluster({}, 'shown');
    await create(object, false);
    await writeStatus(object, {
      observedGeneration: 1,
      phase: 'Running',
      replicas: 3,
      readyReplicas: 2,
      currentVersion: '8.2',
    });
    expect(await table(object, 'rdc')).toMatchObject({ PHASE: 'Running', REPLICAS: '3', READY: '2', VERSION: '8.2' });
  });

  it('shows which cluster a member is, and whether it can be worked', async () => {
    const object = memberCluster(`shown-${namespaces.get('hub') ?? ''}`, { kubeconfigSecretRef: { name: 'eu-1' } });
    const { metadata } = await create(object, false);
    await writeStatus(object, {
      observedGeneration: 1,
      version: 'v1.30.0',
      uid: 'a-b-c',
      owner: 'replica-1',
      conditions: [{ ...ready, status: 'False', reason: 'Unreachable', message: 'no answer' }],
    });
    expect(await table(object, 'mc', '-o', 'wide')).toMatchObject({
      READY: 'False',
      REASON: 'Unreachable',
      VERSION: 'v1.30.0',
      UID: 'a-b-c',
      OWNER: 'replica-1',
      MESSAGE: 'no answer',
    });
    const { name = '', uid = '' } = metadata;
    await adminClient('hub').delete({ gvk: gvkOf(object), name }, { uid }, asTester);
  });
});
