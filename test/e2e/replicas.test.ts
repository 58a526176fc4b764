import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/index.ts';
import { applied, gains, held, membersReady, readyIn, startReady } from '../installation/index.ts';
import type { Fleet } from '../installation/index.ts';
import { eventually } from '../support/lab.ts';
import { installFleet, manifest, removeFleet } from './play.ts';

/** Lease 15 s + two retries of 2 s, jittered: what a killed replica's shards may take to find another owner. */
const TAKEOVER = 20_000;
const FENCED = 'eu-1';

/** What a member's API server demands of who writes. */
async function fencedAt(fleet: Fleet): Promise<number> {
  const path = ['-n', 'atoll-system', 'get', 'configmap', 'atoll-fence', '-o', 'jsonpath={.data.epoch}'];
  return Number(await fleet.kubectl(FENCED, ...path));
}

describe('replicas, at the real lease times', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await installFleet({});
    await fleet.join(FENCED, '--fence');
    await Promise.all([startReady(fleet, 'atoll-a'), startReady(fleet, 'atoll-b')]);
    await membersReady(fleet);
    await applied(
      fleet,
      await fleet.commit({ 'apps/s.yaml': manifest('sessions', { placement: '{selector: {}}' }) }, 'Add'),
    );
    await readyIn(fleet, 'sessions', fleet.members);
  });

  afterAll(async () => {
    await removeFleet(fleet);
    await fleet.join(FENCED, '--no-fence');
    await fleet.kubectl('hub', 'delete', 'membercluster', FENCED);
  });

  it('share the shards: each is worked by one, and none is left', () => {
    const shards = fleet.replicas.flatMap((replica) => held(fleet, replica));
    expect(shards.toSorted()).toEqual(['ap-1', 'eu-1', 'hub', 'us-1']);
  });

  it('raise the fence of a member to the epoch of its owner', async () => {
    expect(await fencedAt(fleet)).toBe(gains(fleet.replicas).findLast(({ shard }) => shard === FENCED)?.epoch);
  });

  it('take over the shards of a replica that is killed, with higher epochs, and work goes on', async () => {
    const [victim, survivor] = fleet.replicas.toSorted((a, b) => held(fleet, b).length - held(fleet, a).length);
    if (victim === undefined || survivor === undefined) throw new Error('there are not two replicas');
    const shards = held(fleet, victim);
    const epochs = new Map(gains(fleet.replicas).map(({ shard, epoch }) => [shard, epoch]));
    const killed = systemClock.now();
    await victim.end('SIGKILL');
    await eventually(() => held(fleet, survivor).length === 4, {
      timeout: 60_000,
      message: `${shards.join(', ')} stay ownerless`,
    });
    const taken = gains([survivor]).filter(({ time }) => time >= killed);
    expect(taken.map(({ shard }) => shard).toSorted()).toEqual(shards.toSorted());
    expect(Math.max(...taken.map(({ time }) => time)) - killed).toBeLessThanOrEqual(TAKEOVER);
    expect(taken.every(({ shard, epoch }) => epoch > (epochs.get(shard) ?? 0))).toBe(true);
    await applied(
      fleet,
      await fleet.commit(
        { 'apps/s.yaml': manifest('sessions', { placement: '{selector: {}}', replicas: 3 }) },
        'Scale',
      ),
    );
    const { status } = await readyIn(fleet, 'sessions', fleet.members);
    expect(status?.observed).toMatchObject({ readyReplicas: 9 });
    expect(await fencedAt(fleet)).toBe(gains(fleet.replicas).findLast(({ shard }) => shard === FENCED)?.epoch);
  });

  it('hand over at once when one is stopped, which then exits 0', async () => {
    const replacement = await startReady(fleet, 'atoll-c');
    await eventually(() => held(fleet, replacement).length > 0, {
      timeout: 60_000,
      message: 'the new replica gets no shard',
    });
    const shards = held(fleet, replacement);
    const rest = fleet.replicas.filter(({ running, name }) => running && name !== 'atoll-c');
    expect(await replacement.end('SIGTERM')).toBe(0);
    const stopped = systemClock.now();
    await eventually(() => shards.every((shard) => rest.some((replica) => held(fleet, replica).includes(shard))), {
      timeout: 20_000,
    });
    const handed = gains(rest).filter(({ shard }) => shards.includes(shard));
    expect(Math.max(...handed.map(({ time }) => time)) - stopped).toBeLessThanOrEqual(TAKEOVER / 4);
  });
});
