import { beforeAll, expect, test } from 'vitest';
import type { GroupVersionKind, KubernetesObject } from '../../src/kernel/index.ts';
import { KindNotFoundError } from '../../src/kubernetes/index.ts';
import type { KubernetesClient, ObjectReference } from '../../src/kubernetes/index.ts';
import { openAdmin } from '../support/admin-client.ts';
import { adminClient, asTester, createNamespace, eventually, labCluster, uniqueName } from '../support/lab.ts';

const CRD = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' };
const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

let client: KubernetesClient;
let namespace: string;

beforeAll(async () => {
  client = adminClient('eu-1');
  namespace = await createNamespace('eu-1');
});

interface Definition {
  readonly group: string;
  readonly plural?: string;
  readonly scope?: 'Namespaced' | 'Cluster';
  /** The versions, and which of them are served. The last one is stored. */
  readonly versions?: Readonly<Record<string, boolean>>;
}

async function define({
  group,
  plural = 'plants',
  scope = 'Namespaced',
  versions = { v1: true },
}: Definition): Promise<ObjectReference> {
  const name = `${plural}.${group}`;
  const names = { plural, kind: 'Plant', listKind: 'Vegetation', singular: plural };
  const entries = Object.entries(versions);
  const listed = entries.map(([version, served], index) => ({
    name: version,
    served,
    storage: index === entries.length - 1,
    schema,
  }));
  const body = { apiVersion: 'apiextensions.k8s.io/v1', kind: CRD.kind, metadata: { name } };
  await client.apply({ ...body, spec: { group, scope, names, versions: listed } }, asTester, { force: true });
  return { gvk: CRD, name };
}

async function undefine(ref: ObjectReference): Promise<void> {
  const definition = await client.get(ref);
  await client.delete(ref, { uid: definition?.metadata.uid ?? '' }, asTester);
  await eventually(async () => (await client.get(ref)) === undefined);
}

const kindOf = (group: string, version = 'v1'): GroupVersionKind => ({ group, version, kind: 'Plant' });
const served = (gvk: GroupVersionKind) =>
  eventually(() => client.list(gvk), { message: `${gvk.version} of ${gvk.group} was not served` });
const newGroup = (): string => `${uniqueName('plants')}.atoll-test.example`;

function plant(group: string, metadata: KubernetesObject['metadata']): KubernetesObject {
  return { apiVersion: `${group}/v1`, kind: 'Plant', metadata };
}

test('a kind that is deleted under a watch ends it, is told as missing, and is found again, whatever it is like then', async () => {
  const group = newGroup();
  const gvk = kindOf(group);
  const definition = await define({ group });
  const { resourceVersion } = await served(gvk);
  await client.create(plant(group, { name: 'fern', namespace }), asTester);
  const types: string[] = [];
  const { signal } = new AbortController();
  for await (const { type } of client.watch(gvk, { resourceVersion, signal })) {
    types.push(type);
    if (type === 'ADDED') await undefine(definition);
  }
  expect(types).toEqual(['ADDED', 'DELETED']);
  await eventually(async () => {
    const error = await client.list(gvk).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof KindNotFoundError;
  });

  // Of another scope and under another name: the way to it that is remembered leads nowhere.
  await define({ group, plural: 'herbs', scope: 'Cluster' });
  await served(gvk);
  await client.create(plant(group, { name: 'sage' }), asTester);
  expect((await client.list(gvk)).items.map(({ metadata }) => metadata.name)).toEqual(['sage']);
  expect(await client.resourceFor(gvk)).toMatchObject({ plural: 'herbs', namespaced: false });
});

test('a kind that was created anew in another way between two calls is called in that way at once', async () => {
  const group = newGroup();
  const gvk = kindOf(group);
  const definition = await define({ group });
  await served(gvk);
  await undefine(definition);
  await define({ group, plural: 'herbs' });
  const newcomer = openAdmin(labCluster('eu-1'));
  try {
    await eventually(() => newcomer.list(gvk), { message: 'the new definition was not served' });
  } finally {
    await newcomer.close();
  }
  // The client remembers another way to it, which nobody has tried since.
  await expect(client.list(gvk)).resolves.toMatchObject({ items: [] });
  expect(await client.resourceFor(gvk)).toMatchObject({ plural: 'herbs' });
});

test('a version that is no longer served is missing, while the others are there', async () => {
  const group = newGroup();
  await define({ group, versions: { v1alpha1: true, v1: true } });
  await served(kindOf(group, 'v1alpha1'));
  await served(kindOf(group));
  await define({ group, versions: { v1alpha1: false, v1: true } });
  await eventually(async () => {
    const error = await client.list(kindOf(group, 'v1alpha1')).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof KindNotFoundError;
  });
  // Its storage may be set up anew just now.
  expect(await served(kindOf(group))).toMatchObject({ items: [] });
});

test('a list by any name is the kind’s, with and without items', async () => {
  const group = newGroup();
  await define({ group });
  await served(kindOf(group));
  await client.create(plant(group, { name: 'moss', namespace }), asTester);
  const { items } = await client.list(kindOf(group), { namespace });
  expect(items).toMatchObject([{ kind: 'Plant', metadata: { name: 'moss' } }]);
});
