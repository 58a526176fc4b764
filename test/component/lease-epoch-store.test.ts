import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LeaseLostError, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { LeaseEpochStore, StaleEpochError } from '../../src/leadership/index.ts';
import { adminClient, asTester, createNamespace, uniqueName } from '../support/lab.ts';

const LEASE = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' };
/** Beyond 32 bits, as epochs are. */
const EPOCH = 1_764_592_345_123;

let namespace: string;
let shard: string;

const passes = (): void => undefined;

function store(): LeaseEpochStore {
  return new LeaseEpochStore({ client: adminClient('hub'), namespace, clock: systemClock, leaseDurationSeconds: 40 });
}

async function lease(): Promise<KubernetesObject & { readonly spec: Record<string, unknown> }> {
  const live = await adminClient('hub').get({ gvk: LEASE, namespace, name: `atoll-${shard}` });
  if (live === undefined) throw new Error('there is no Lease');
  return live as KubernetesObject & { readonly spec: Record<string, unknown> };
}

function epochOf(live: KubernetesObject): string | undefined {
  return live.metadata.annotations?.['atoll.dev/epoch'];
}

beforeAll(async () => {
  namespace = await createNamespace('hub');
});

beforeEach(() => {
  shard = uniqueName('m');
});

describe('the epochs on the hub', () => {
  it('are recorded in a Lease per shard, which is made when it is missing', async () => {
    await store().raise(shard, EPOCH, 'a', passes);
    const live = await lease();
    expect(epochOf(live)).toBe(String(EPOCH));
    expect(live.spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 40, leaseTransitions: 0 });
    expect(live.spec['renewTime']).toMatch(/\.\d{6}Z$/);
    expect(live.metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'atoll' });
  });

  it('only rise, and count their holders', async () => {
    await store().raise(shard, EPOCH, 'a', passes);
    await store().raise(shard, EPOCH + 1, 'b', passes);
    const refused = await store()
      .raise(shard, EPOCH, 'a', passes)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StaleEpochError);
    expect(refused).toMatchObject({ recorded: EPOCH + 1 });
    const live = await lease();
    expect(epochOf(live)).toBe(String(EPOCH + 1));
    expect(live.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('are one holder’s each: the same again is fine for it, and refused to another', async () => {
    await store().raise(shard, EPOCH, 'a', passes);
    await store().raise(shard, EPOCH, 'a', passes);
    await expect(store().raise(shard, EPOCH, 'b', passes)).rejects.toThrow(StaleEpochError);
  });

  it('end with the highest, when many are raised at the same time', async () => {
    const epochs = [3, 1, 5, 2, 4].map((number) => EPOCH + number);
    const outcomes = await Promise.allSettled(epochs.map((epoch) => store().raise(shard, epoch, `r${epoch}`, passes)));
    const live = await lease();
    expect(epochOf(live)).toBe(String(EPOCH + 5));
    expect(outcomes[2]).toMatchObject({ status: 'fulfilled' });
  });

  it('are kept beside what others wrote into the Lease', async () => {
    await store().raise(shard, EPOCH, 'a', passes);
    const live = await lease();
    const annotations = { ...live.metadata.annotations, 'example.com/note': 'kept' };
    await adminClient('hub').update({ ...live, metadata: { ...live.metadata, annotations } }, asTester);
    await store().raise(shard, EPOCH + 1, 'b', passes);
    expect((await lease()).metadata.annotations).toMatchObject({ 'example.com/note': 'kept' });
  });

  it('of a shard that is no more are deleted, unless a higher one is recorded', async () => {
    await store().raise(shard, EPOCH + 1, 'a', passes);
    await store().forget(shard, EPOCH, passes);
    expect(epochOf(await lease())).toBe(String(EPOCH + 1));
    await store().forget(shard, EPOCH + 1, passes);
    await expect(lease()).rejects.toThrow('there is no Lease');
    await store().forget(shard, EPOCH + 1, passes);
  });

  it('are not written when the guard forbids it', async () => {
    const guard = (): void => {
      throw new LeaseLostError('lost');
    };
    await expect(store().raise(shard, EPOCH, 'a', guard)).rejects.toThrow(LeaseLostError);
    await expect(lease()).rejects.toThrow('there is no Lease');
  });
});

describe('a heartbeat', () => {
  it('renews the time, and nothing else', async () => {
    const holder = store();
    await holder.raise(shard, EPOCH, 'a', passes);
    const before = await lease();
    await systemClock.sleep(5);
    await holder.heartbeat(shard, EPOCH, 'a', passes);
    const after = await lease();
    const renewTime = String(after.spec['renewTime']);
    expect(renewTime > String(before.spec['renewTime'])).toBe(true);
    expect(after.spec).toEqual({ ...before.spec, renewTime });
    expect(epochOf(after)).toBe(String(EPOCH));
  });

  it('goes on after somebody else wrote the Lease, or deleted it', async () => {
    const holder = store();
    await holder.raise(shard, EPOCH, 'a', passes);
    const live = await lease();
    const labels = { ...live.metadata.labels, team: 'shop' };
    await adminClient('hub').update({ ...live, metadata: { ...live.metadata, labels } }, asTester);
    await holder.heartbeat(shard, EPOCH, 'a', passes);
    expect((await lease()).metadata.labels).toMatchObject({ team: 'shop' });
    const ref = { gvk: LEASE, namespace, name: `atoll-${shard}` };
    await adminClient('hub').delete(ref, { uid: live.metadata.uid ?? '' }, asTester);
    await holder.heartbeat(shard, EPOCH, 'a', passes);
    expect(epochOf(await lease())).toBe(String(EPOCH));
  });

  it('of a holder that was outdone is refused', async () => {
    const holder = store();
    await holder.raise(shard, EPOCH, 'a', passes);
    await store().raise(shard, EPOCH + 1, 'b', passes);
    await expect(holder.heartbeat(shard, EPOCH, 'a', passes)).rejects.toThrow(StaleEpochError);
    expect((await lease()).spec).toMatchObject({ holderIdentity: 'b' });
  });
});
