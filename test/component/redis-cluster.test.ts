import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RedisCluster } from '../../src/api/index.ts';
import type { OwnerMark } from '../../src/apply/index.ts';
import { applyObject } from '../../src/apply/index.ts';
import { done } from '../../src/kernel/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../../src/kernel/index.ts';
import type { WriteContext } from '../../src/kubernetes/index.ts';
import type { Workload } from '../../src/workloads/index.ts';
import { WorkloadReconciler, workloads } from '../../src/workloads/index.ts';
import { installDefinitions } from '../support/definitions.ts';
import { HandOperator } from '../support/hand-operator.ts';
import { adminClient, asTester, createNamespace, eventually, uniqueName } from '../support/lab.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';
import { serviceAccountWith } from '../support/service-account.ts';

const CLUSTER = 'eu-1';
const NAME = 'sessions';
const STATEFUL_SET = { group: 'apps', version: 'v1', kind: 'StatefulSet' };
const SERVICE = { group: '', version: 'v1', kind: 'Service' };
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const BUDGET = { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' };

const CHILDREN: readonly (readonly [GroupVersionKind, string])[] = [
  [STATEFUL_SET, NAME],
  [SERVICE, NAME],
  [SERVICE, `${NAME}-headless`],
  [CONFIG_MAP, `${NAME}-config`],
  [BUDGET, NAME],
  [{ group: '', version: 'v1', kind: 'ServiceAccount' }, NAME],
];

const asPerson: WriteContext = { ...asTester, fieldManager: 'kubectl-edit' };
const asFederation: WriteContext = { ...asTester, fieldManager: 'atoll' };

const redis = workloads.find(({ kind }) => kind.gvk.kind === 'RedisCluster') as Workload;

let namespace: string;
let installation: string;
let operator: HandOperator;
/** The operator runs with its declared rules and nothing else. */
let account: BoundServiceAccount;

beforeAll(async () => {
  account = await serviceAccountWith(CLUSTER, WorkloadReconciler.rules);
  await installDefinitions(CLUSTER, 'member');
});

afterAll(() => account.remove());

beforeEach(async () => {
  namespace = await createNamespace(CLUSTER);
  installation = uniqueName('installation');
  operator = operatorOf(redis);
  await operator.start();
});

afterEach(() => operator.stop());

describe('a RedisCluster', () => {
  it('gets its children, and reports how they come up', async () => {
    const phases = await phasesUntilRunning(() => applyCluster({ replicas: 3 }));
    // A pod that is ready before the first look leaves no Pending to be seen; the order holds in any case.
    expect(phases).toEqual(['Pending', 'Scaling', 'Running'].filter((phase) => phases.includes(phase)));
    expect(phases.length).toBeGreaterThan(1);
    const cluster = await read(redis.kind.gvk, NAME);
    expect(cluster['status']).toMatchObject({
      observedGeneration: cluster.metadata.generation,
      replicas: 3,
      readyReplicas: 3,
      currentVersion: '8.2',
    });
    const { uid } = cluster.metadata;
    for (const [gvk, name] of CHILDREN) {
      const [reference] = (await read(gvk, name)).metadata.ownerReferences ?? [];
      expect(reference).toMatchObject({ kind: 'RedisCluster', name: NAME, uid, controller: true });
    }
  });

  it('causes no request when nothing has changed, nor by a restart', async () => {
    await runningCluster();
    operator.enqueue(NAME);
    await idle();
    expect(operator.client.takeRequests()).toEqual([]);

    await operator.stop();
    operator = operatorOf(redis);
    await operator.start();
    await idle();
    expect(operator.lastResult).toEqual(done);
    expect(operator.client.takeRequests()).toEqual([]);
  });

  it('scales, and says so meanwhile', async () => {
    await runningCluster();
    expect(await phasesUntilRunning(() => applyCluster({ replicas: 3 }))).toEqual(['Running', 'Scaling', 'Running']);
    expect((await read(STATEFUL_SET, NAME))['status']).toMatchObject({ readyReplicas: 3 });
  });

  it('rolls its pods when its configuration changes, and keeps running', async () => {
    await runningCluster();
    const before = await updateRevision();
    await applyCluster({ replicas: 1, config: { maxmemory: '100mb' } });
    await eventually(async () => (await updateRevision()) !== before, { message: 'the template stays' });
    await untilRunning();
    expect((await read(CONFIG_MAP, `${NAME}-config`))['data']).toHaveProperty(
      ['redis.conf'],
      expect.stringContaining('maxmemory 100mb'),
    );
  });

  it('is gone with all its children when it is deleted', async () => {
    const { metadata } = await runningCluster();
    const ref = { gvk: redis.kind.gvk, namespace, name: NAME };
    await adminClient(CLUSTER).delete(ref, { uid: metadata.uid ?? '' }, asTester, { propagationPolicy: 'Foreground' });
    for (const [gvk, name] of [...CHILDREN, [redis.kind.gvk, NAME] as const]) {
      await eventually(async () => (await find(gvk, name)) === undefined, { message: `${gvk.kind} ${name} stays` });
    }
  });

  it('is left alone when it is paused, or belongs to another installation', async () => {
    await applyCluster({ replicas: 1 }, { annotations: { 'atoll.dev/reconcile': 'disabled' } });
    await eventually(() => operator.lastResult === done);
    await expect(find(STATEFUL_SET, NAME)).resolves.toBeUndefined();

    await operator.stop();
    operator = operatorOf(redis, 'another-installation');
    await operator.start();
    await applyCluster({ replicas: 1 });
    await eventually(() => operator.lastResult === done);
    await idle();
    await expect(find(STATEFUL_SET, NAME)).resolves.toBeUndefined();
  });
});

describe('a child', () => {
  it('is healed when a person edits it, by one forced apply', async () => {
    await runningCluster();
    const live = await read(CONFIG_MAP, `${NAME}-config`);
    await adminClient(CLUSTER).update({ ...live, data: { 'redis.conf': 'port 1\n' } }, asPerson);
    await eventually(async () => JSON.stringify(await data(`${NAME}-config`)) === JSON.stringify(live['data']));
    await idle();
    expect(operator.client.takeRequests()).toEqual([`apply! ConfigMap/${NAME}-config`]);
  });

  it('keeps a field that a controller took, by no request, and the cluster says so', async () => {
    await runningCluster();
    const live = await read(CONFIG_MAP, `${NAME}-config`);
    await adminClient(CLUSTER).update(
      { ...live, data: { ...(live['data'] as object), 'redis.conf': '# mine' } },
      asTester,
    );
    const left = await eventually(async () => conditionOf(await find(redis.kind.gvk, NAME), 'FieldsLeft'));
    expect(left).toMatchObject({
      status: 'True',
      message: `ConfigMap ${NAME}-config: .data.redis.conf (test)`,
    });
    await idle();
    expect(operator.client.takeRequests()).toEqual([`apply! status of RedisCluster/${NAME}`]);
    await untilRunning();
  });

  it('keeps a field that a rule leaves to others, whoever writes it', async () => {
    const rule = { kind: 'ConfigMap', path: 'data.redis.conf', mode: 'Adopt' };
    await applyCluster({ replicas: 1 }, { annotations: { 'atoll.dev/ignore': JSON.stringify([rule]) } });
    await untilRunning();
    await idle();
    const live = await read(CONFIG_MAP, `${NAME}-config`);
    await adminClient(CLUSTER).update({ ...live, data: { 'redis.conf': 'port 1\n' } }, asPerson);
    await eventually(async () => conditionOf(await find(redis.kind.gvk, NAME), 'FieldsLeft'));
    await idle();
    expect(await data(`${NAME}-config`)).toMatchObject({ 'redis.conf': 'port 1\n' });
  });

  it('is made again when it is deleted', async () => {
    await runningCluster();
    const { uid = '' } = (await read(SERVICE, NAME)).metadata;
    await adminClient(CLUSTER).delete({ gvk: SERVICE, namespace, name: NAME }, { uid }, asTester);
    await eventually(async () => {
      const again = await find(SERVICE, NAME);
      return again !== undefined && again.metadata.uid !== uid;
    });
    await idle();
    expect(operator.client.takeRequests()).toEqual([`get Service/${NAME}`, `apply Service/${NAME}`]);
  });

  it('is removed when it is not rendered any more', async () => {
    await runningCluster();
    await operator.stop();
    operator = operatorOf({
      ...redis,
      render: (object) => redis.render(object).filter(({ kind }) => kind !== 'PodDisruptionBudget'),
    });
    await operator.start();
    await eventually(async () => (await find(BUDGET, NAME)) === undefined, { message: 'the budget stays' });
    await idle();
    expect(operator.client.takeRequests()).toEqual([`delete PodDisruptionBudget/${NAME}`]);
  });

  it('that the API server refuses for good makes the cluster Failed, with the reason, until it is changed', async () => {
    await runningCluster();
    await applyCluster({ replicas: 1, resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } });
    const failed = await untilPhase('Failed');
    const stalled = failed.status?.conditions?.find(({ type }) => type === 'Stalled');
    expect(stalled).toMatchObject({ status: 'True', reason: 'Invalid' });
    expect(stalled?.message).toContain('resources.requests');
    await idle();
    operator.client.takeRequests();
    await applyCluster({ replicas: 1 });
    await untilRunning();
  });

  it('whose name is taken by a foreign object is reported, and the object is left alone', async () => {
    const foreign = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${NAME}-config`, namespace } };
    await adminClient(CLUSTER).create({ ...foreign, data: { theirs: 'yes' } }, asTester);
    await applyCluster({ replicas: 1 });
    await eventually(async () => {
      const degraded = statusOf(await find(redis.kind.gvk, NAME))?.conditions?.find(({ type }) => type === 'Degraded');
      return degraded?.reason === 'NameTaken' && degraded.message.includes(`ConfigMap ${namespace}/${NAME}-config`);
    });
    expect(await data(`${NAME}-config`)).toEqual({ theirs: 'yes' });
  });
});

function conditionOf(object: KubernetesObject | undefined, type: string): object | undefined {
  return statusOf(object)?.conditions?.find((condition) => condition.type === type);
}

function operatorOf(workload: Workload, ofInstallation = installation): HandOperator {
  const { connection } = account;
  return new HandOperator({ cluster: CLUSTER, connection, namespace, installation: ofInstallation, workload });
}

/** The RedisCluster as federation brings it into a member. */
async function applyCluster(spec: Record<string, unknown>, metadata: Record<string, unknown> = {}): Promise<void> {
  const owner: OwnerMark = {
    installation,
    kind: 'FederatedRedisCluster.federation.atoll.dev',
    namespace,
    name: NAME,
    uid: '1',
  };
  const { group, version, kind } = redis.kind.gvk;
  const desired = { apiVersion: `${group}/${version}`, kind, metadata: { name: NAME, namespace, ...metadata }, spec };
  const request = { client: adminClient(CLUSTER), desired, owner, write: asFederation };
  const outcome = await applyObject({ ...request, live: undefined });
  expect(['created', 'updated']).toContain(outcome.result);
  await expect(applyObject({ ...request, live: undefined })).resolves.toMatchObject({ result: 'unchanged' });
}

/** A cluster of one replica that is Running, with nothing left to do and no request noted. */
async function runningCluster(): Promise<KubernetesObject> {
  await applyCluster({ replicas: 1 });
  await untilRunning();
  await idle();
  operator.client.takeRequests();
  return read(redis.kind.gvk, NAME);
}

/** Every phase that a watcher sees after an action, from the present one up to Running at the new generation. */
async function phasesUntilRunning(action: () => Promise<void>): Promise<string[]> {
  const { items, resourceVersion } = await adminClient(CLUSTER).list(redis.kind.gvk, { namespace });
  const phases = items.flatMap((object) => statusOf(object)?.phase ?? []) as string[];
  const signal = AbortSignal.timeout(60_000);
  const events = adminClient(CLUSTER).watch(redis.kind.gvk, { namespace, resourceVersion, signal });
  await action();
  for await (const { object } of events) {
    const phase = statusOf(object)?.phase;
    if (phase !== undefined && phase !== phases.at(-1)) phases.push(phase);
    if (isRunning(object)) return phases;
  }
  throw new Error(`the cluster is not Running, but was ${phases.join(', ')}`);
}

async function untilRunning(): Promise<void> {
  await eventually(async () => isRunning(await read(redis.kind.gvk, NAME)), {
    timeout: 60_000,
    message: 'the cluster is not Running',
  });
}

async function untilPhase(phase: string): Promise<RedisCluster> {
  const object = await eventually(async () => {
    const current = await read(redis.kind.gvk, NAME);
    return statusOf(current)?.phase === phase ? current : undefined;
  });
  return object as unknown as RedisCluster;
}

/** Running, and spoken of the present generation: what kstatus calls current. */
function isRunning(object: KubernetesObject): boolean {
  const status = statusOf(object);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const isCurrent = status?.observedGeneration === object.metadata.generation;
  return isCurrent && status?.phase === 'Running' && ready?.status === 'True';
}

/** Waits until the operator has had nothing to do for a while: longer than events take to arrive. */
async function idle(): Promise<void> {
  let quietChecks = 0;
  await eventually(
    () => {
      quietChecks = operator.isIdle() ? quietChecks + 1 : 0;
      return quietChecks >= 10;
    },
    { interval: 50 },
  );
}

async function updateRevision(): Promise<unknown> {
  return ((await read(STATEFUL_SET, NAME))['status'] as { updateRevision?: string } | undefined)?.updateRevision;
}

async function data(name: string): Promise<unknown> {
  return (await read(CONFIG_MAP, name))['data'];
}

function statusOf(object: KubernetesObject | undefined): RedisCluster['status'] {
  return object?.['status'] as RedisCluster['status'];
}

function find(gvk: GroupVersionKind, name: string): Promise<KubernetesObject | undefined> {
  return adminClient(CLUSTER).get({ gvk, namespace, name });
}

async function read(gvk: GroupVersionKind, name: string): Promise<KubernetesObject> {
  const object = await find(gvk, name);
  if (object === undefined) throw new Error(`${gvk.kind} ${name} does not exist`);
  return object;
}
