import { beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { ForbiddenError } from '../../src/kubernetes/index.ts';
import { LeaseEpochStore, StaleEpochError, leaseRules } from '../../src/leadership/index.ts';
import { adminClient, asTester, createNamespace, uniqueName } from '../support/lab.ts';
import { recordingClient } from '../support/recording-client.ts';
import type { RecordingClient } from '../support/recording-client.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import { ShardReplica } from '../support/shard-replica.ts';

// Whether a lease has run out is Redis's to say. The Lease on the hub says who may act on that: an epoch in the place of client-go's
// observed time.
const LEASE = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' };
const EPOCH = 1_764_592_345_123;
const passes = (): void => undefined;

interface Lease extends KubernetesObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

let namespace: string;
let shard: string;
let client: RecordingClient;

beforeAll(async () => {
  namespace = await createNamespace('hub');
});

beforeEach(() => {
  shard = uniqueName('m');
  client = recordingClient('hub');
  return () => client.close();
});

function store(): LeaseEpochStore {
  return new LeaseEpochStore({ client, namespace, clock: systemClock, leaseDurationSeconds: 15 });
}

/** A Lease as others may have left it. */
async function left(spec: Readonly<Record<string, unknown>>, epoch?: number): Promise<void> {
  const annotations = epoch === undefined ? undefined : { 'atoll.dev/epoch': String(epoch) };
  const metadata = { name: `atoll-${shard}`, namespace, ...(annotations && { annotations }) };
  await adminClient('hub').create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }, asTester);
}

async function lease(): Promise<Lease> {
  const live = await adminClient('hub').get({ gvk: LEASE, namespace, name: `atoll-${shard}` });
  if (live === undefined) throw new Error('there is no Lease');
  return live as Lease;
}

async function relabel(labels: Readonly<Record<string, string>>): Promise<void> {
  const live = await lease();
  await adminClient('hub').update({ ...live, metadata: { ...live.metadata, labels } }, asTester);
}

/** Verbs of the calls since this was last asked. */
function verbs(): string[] {
  return client.takeRequests().map((request) => request.split(' ')[0] ?? '');
}

test('TestTryAcquireOrRenewLeases/acquire from no object', async () => {
  await store().raise(shard, EPOCH, 'baz', passes);
  expect((await lease()).spec).toMatchObject({ holderIdentity: 'baz', leaseTransitions: 0 });
});

test.each([
  ['acquire from object without annotations', {}, undefined],
  ['acquire from unled object', { holderIdentity: '', leaseTransitions: 0 }, undefined],
  ['acquire from led, unacked object', { holderIdentity: 'bing' }, EPOCH - 1],
  ['acquire from empty led, acked object', { holderIdentity: '' }, EPOCH - 1],
] as const)('TestTryAcquireOrRenewLeases/%s', async (_, spec, epoch) => {
  await left(spec, epoch);
  await store().raise(shard, EPOCH, 'baz', passes);
  expect((await lease()).spec).toMatchObject({ holderIdentity: 'baz', leaseTransitions: 1 });
});

test("TestTryAcquireOrRenewLeases/don't acquire from led, acked object", async () => {
  await left({ holderIdentity: 'bing' }, EPOCH);
  await expect(store().raise(shard, EPOCH, 'baz', passes)).rejects.toThrow(StaleEpochError);
  expect((await lease()).spec).toEqual({ holderIdentity: 'bing' });
});

test('TestTryAcquireOrRenewLeases/renew already acquired object', async () => {
  const holder = store();
  await holder.raise(shard, EPOCH, 'baz', passes);
  await holder.heartbeat(shard, EPOCH, 'baz', passes);
  expect((await lease()).spec).toMatchObject({ holderIdentity: 'baz', leaseTransitions: 0 });
});

test('TestFastPathLeaderElection/Exercise fast path after lock acquired', async () => {
  const holder = store();
  await holder.raise(shard, EPOCH, 'baz', passes);
  await holder.heartbeat(shard, EPOCH, 'baz', passes);
  await holder.heartbeat(shard, EPOCH, 'baz', passes);
  expect(verbs()).toEqual(['get', 'create', 'update', 'update']);
});

test('TestFastPathLeaderElection/Fallback to slow path after fast path fails', async () => {
  const holder = store();
  await holder.raise(shard, EPOCH, 'baz', passes);
  await holder.heartbeat(shard, EPOCH, 'baz', passes);
  await relabel({ team: 'shop' });
  await expect(holder.heartbeat(shard, EPOCH, 'baz', passes)).resolves.toBeUndefined();
  await holder.heartbeat(shard, EPOCH, 'baz', passes);
  expect(verbs()).toEqual(['get', 'create', 'update', 'update', 'get', 'update', 'update']);
});

test.each([
  ['a duration that is not above the deadline', { duration: 10_000, renewDeadline: 10_000, retryPeriod: 2000 }],
  ['a deadline without room for one retry, jittered', { duration: 15_000, renewDeadline: 2400, retryPeriod: 2000 }],
  ['no retry period', { duration: 15_000, renewDeadline: 10_000, retryPeriod: 0 }],
  ['a negative one', { duration: 15_000, renewDeadline: 10_000, retryPeriod: -1 }],
])('TestLeaderElectionConfigValidation: refuses %s', (_, times) => {
  expect(() => new ShardReplica({ url: 'redis://:any@127.0.0.1:1', keyPrefix: 'any', name: 'baz', times })).toThrow(
    /lease times must be/,
  );
});

test.each([
  ['TestGetError', [], 'get'],
  ['TestCreateError', ['get'], 'create'],
])('%s: is told to who asked, and nothing is recorded', async (_, verbsOfAccount, refused) => {
  const rules = leaseRules.map((rule) => ({ ...rule, verbs: verbsOfAccount }));
  await refusedTo(
    rules.filter(({ verbs: given }) => given.length > 0),
    refused,
  );
  await expect(lease()).rejects.toThrow('there is no Lease');
});

test('TestUpdateError: is told to who asked, and what is recorded stays', async () => {
  await left({ holderIdentity: 'bing' }, EPOCH - 1);
  await refusedTo(
    leaseRules.map((rule) => ({ ...rule, verbs: ['get', 'create'] })),
    'update',
  );
  expect((await lease()).spec).toEqual({ holderIdentity: 'bing' });
});

/** An account with these rights only tries to raise the epoch. */
async function refusedTo(rules: Parameters<typeof serviceAccountWith>[1], verb: string): Promise<void> {
  const account = await serviceAccountWith('hub', rules);
  const restricted = recordingClient('hub', account.connection);
  const options = { client: restricted, namespace, clock: systemClock, leaseDurationSeconds: 15 };
  await expect(new LeaseEpochStore(options).raise(shard, EPOCH, 'baz', passes)).rejects.toThrow(ForbiddenError);
  expect(restricted.requests.at(-1)).toMatch(new RegExp(`^${verb} `));
  await restricted.close();
  await account.remove();
}

test('TestLeaseConversion: a Lease that the server took is given back field by field', async () => {
  await store().raise(shard, EPOCH, 'baz', passes);
  const { spec } = await lease();
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as string;
  expect(spec).toEqual({
    holderIdentity: 'baz',
    leaseDurationSeconds: 15,
    leaseTransitions: 0,
    acquireTime: time,
    renewTime: time,
  });
});

test('TestUpdateWithNilLabelsOnLease', async () => {
  await left({ holderIdentity: 'bing' }, EPOCH - 1);
  await store().raise(shard, EPOCH, 'baz', passes);
  expect((await lease()).metadata.labels).toEqual({ 'app.kubernetes.io/managed-by': 'atoll' });
});

test('TestLabelUpdate: labels of others stay, its own comes back', async () => {
  const holder = store();
  await holder.raise(shard, EPOCH, 'baz', passes);
  await relabel({ team: 'shop' });
  await holder.heartbeat(shard, EPOCH, 'baz', passes);
  expect((await lease()).metadata.labels).toEqual({ team: 'shop', 'app.kubernetes.io/managed-by': 'atoll' });
});
