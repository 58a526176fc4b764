import { beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { ConflictError, NotFoundError, UnexpectedAnswerError } from '../../src/kubernetes/index.ts';
import type { KubernetesClient, ObjectReference, WriteContext } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, eventually } from '../support/lab.ts';

let client: KubernetesClient;
let namespace: string;

beforeAll(async () => {
  client = adminClient('eu-1');
  namespace = await createNamespace('eu-1');
});

const as = (fieldManager: string): WriteContext => ({ ...asTester, fieldManager });

/** A new Deployment without replicas. */
async function newDeployment(name: string): Promise<ObjectReference> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'none' }] } };
  const spec = { replicas: 0, selector: { matchLabels: labels }, template };
  await client.create({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec }, asTester);
  return { gvk: { group: 'apps', version: 'v1', kind: 'Deployment' }, namespace, name };
}

async function scaleOf(deployment: ObjectReference): Promise<KubernetesObject> {
  const scale = await client.get(deployment, { subresource: 'scale' });
  expect(scale).toMatchObject({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: deployment.name } });
  return scale as KubernetesObject;
}

async function replicasOf(deployment: ObjectReference): Promise<unknown> {
  const object = (await client.get(deployment)) as KubernetesObject;
  return (object['spec'] as { replicas?: number }).replicas;
}

test('a scale is read, and replaced at the version that was read', async () => {
  const deployment = await newDeployment('updated');
  const old = await scaleOf(deployment);
  // A controller may write to the object at the same time.
  const answer = await eventually(async () => {
    const scale = { ...(await scaleOf(deployment)), spec: { replicas: 2 } };
    return client.update(scale, asTester, { subresource: 'scale', of: deployment });
  });
  expect(answer).toMatchObject({ kind: 'Scale', spec: { replicas: 2 } });
  expect(await replicasOf(deployment)).toBe(2);
  await expect(client.update(old, asTester, { subresource: 'scale', of: deployment })).rejects.toThrow(ConflictError);
});

test('a scale is patched by the reference of its object', async () => {
  const deployment = await newDeployment('patched');
  const operations = [{ op: 'replace', path: '/spec/replicas', value: 3 }] as const;
  const answer = await client.jsonPatch(deployment, operations, asTester, { subresource: 'scale' });
  expect(answer).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
  expect(await replicasOf(deployment)).toBe(3);
});

test('a scale is applied, as a manager of its own', async () => {
  const deployment = await newDeployment('applied');
  const { apiVersion, kind } = await scaleOf(deployment);
  const scale = { apiVersion, kind, metadata: { name: 'applied', namespace }, spec: { replicas: 4 } };
  const options = { subresource: 'scale', of: deployment, force: true };
  expect(await client.apply(scale, as('scaler'), options)).toMatchObject({ kind: 'Scale', spec: { replicas: 4 } });
  const object = await client.get(deployment);
  expect(object?.metadata.managedFields).toContainEqual(
    expect.objectContaining({ manager: 'scaler', operation: 'Apply', subresource: 'scale' }),
  );
});

test('a status is replaced without touching the spec', async () => {
  const deployment = await newDeployment('status');
  const object = (await client.get(deployment)) as KubernetesObject;
  const changed = {
    ...object,
    spec: { ...(object['spec'] as object), replicas: 9 },
    status: { observedGeneration: 7 },
  };
  const answer = await client.update(changed, asTester, { subresource: 'status' });
  expect(answer).toMatchObject({ kind: 'Deployment', spec: { replicas: 0 }, status: { observedGeneration: 7 } });
});

test('the scale of what is not there is absent, not an error', async () => {
  const deployment = await newDeployment('there');
  expect(await client.get({ ...deployment, name: 'absent' }, { subresource: 'scale' })).toBeUndefined();
});

test('a subresource that the kind does not have is not taken for a kind that is not served', async () => {
  const deployment = await newDeployment('without');
  await expect(client.get(deployment, { subresource: 'nothing' })).rejects.toThrow(UnexpectedAnswerError);
});

test('a pod is evicted by a post, which answers a Status', async () => {
  const metadata = { name: 'evicted', namespace };
  const spec = { containers: [{ name: 'main', image: 'none' }] };
  await client.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec }, asTester);
  const pod = { gvk: { group: '', version: 'v1', kind: 'Pod' }, namespace, name: 'evicted' };
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
  expect(await client.createSubresource(pod, 'eviction', eviction, asTester)).toMatchObject({
    kind: 'Status',
    status: 'Success',
  });
  await expect(client.createSubresource(pod, 'eviction', eviction, asTester)).rejects.toThrow(NotFoundError);
});
