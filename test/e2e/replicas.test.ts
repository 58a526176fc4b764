import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/index.ts';
import type { Fleet, Replica } from '../installation/index.ts';
import { eventually } from '../support/lab.ts';
import { applied, installFleet, manifest, membersReady, readyIn, removeFleet, startReady } from './play.ts';

/** Lease 15 s + two retries of 2 s, jittered: what a killed replica's shards may take to find another owner. */
const TAKEOVER = 20_000;

describe('replicas, at the real lease times', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await installFleet({});
    await Promise.all([startReady(fleet, 'atoll-a'), startReady(fleet, 'atoll-b')]);
    await membersReady(fleet);
    await applied(
      fleet,
      await fleet.commit({ 'apps/s.yaml': manifest('sessions', { placement: '{selector: {}}' }) }, 'Add'),
    );
    await readyIn(fleet, 'sessions', fleet.members);
  });

  afterAll(() => removeFleet(fleet));

  /** When each shard was gained by one of these replicas, and by whom, newest last. */
  function gains(replicas: readonly Replica[]): { shard: string; replica: string; epoch: number; time: number }[] {
    return replicas
      .flatMap((replica) => replica.log.filter(({ msg }) => msg === 'shard gained').map((line) => ({ line, replica })))
      .map(({ line, replica }) => ({
        shard: String(line['shard']),
        replica: replica.name,
        epoch: Number(line['epoch']),
        time: Date.parse(String(line['time'])),
      }))
      .toSorted((a, b) => a.time - b.time);
  }

  function held(replica: Replica): string[] {
    const last = new Map(gains(fleet.replicas).map(({ shard, replica: owner }) => [shard, owner]));
    return [...last].filter(([, owner]) => owner === replica.name).map(([shard]) => shard);
  }

  it('share the shards: each is worked by one, and none is left', () => {
    const shards = fleet.replicas.flatMap((replica) => held(replica));
    expect(shards.toSorted()).toEqual(['ap-1', 'eu-1', 'hub', 'us-1']);
  });

  it('take over the shards of a replica that is killed, with higher epochs, and work goes on', async () => {
    const [victim, survivor] = fleet.replicas.toSorted((a, b) => held(b).length - held(a).length);
    if (victim === undefined || survivor === undefined) throw new Error('there are not two replicas');
    const shards = held(victim);
    const epochs = new Map(gains(fleet.replicas).map(({ shard, epoch }) => [shard, epoch]));
    const killed = systemClock.now();
    await victim.end('SIGKILL');
    await eventually(() => held(survivor).length === 4, {
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
  });

  it('hand over at once when one is stopped, which then exits 0', async () => {
    const replacement = await startReady(fleet, 'atoll-c');
    await eventually(() => held(replacement).length > 0, { timeout: 60_000, message: 'the new replica gets no shard' });
    const shards = held(replacement);
    const rest = fleet.replicas.filter(({ running, name }) => running && name !== 'atoll-c');
    expect(await replacement.end('SIGTERM')).toBe(0);
    const stopped = systemClock.now();
    await eventually(() => shards.every((shard) => rest.some((replica) => held(replica).includes(shard))), {
      timeout: 20_000,
    });
    const handed = gains(rest).filter(({ shard }) => shards.includes(shard));
    expect(Math.max(...handed.map(({ time }) => time)) - stopped).toBeLessThanOrEqual(TAKEOVER / 4);
  });
});
