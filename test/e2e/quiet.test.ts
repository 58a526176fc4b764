import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { applied, membersReady, readyIn, startReady, writesSince } from '../installation/index.ts';
import type { Fleet } from '../installation/index.ts';
import { SHORT_LEASES, installFleet, manifest, removeFleet } from './play.ts';

const MINUTE = 60_000;

describe('the steady state', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await installFleet(SHORT_LEASES);
    await startReady(fleet, 'atoll-a');
    await membersReady(fleet);
    const files = Object.fromEntries(
      ['carts', 'sessions', 'users'].map((name) => [
        `apps/${name}.yaml`,
        manifest(name, { placement: '{selector: {}}' }),
      ]),
    );
    await applied(fleet, await fleet.commit(files, 'Three objects'));
    for (const name of ['carts', 'sessions', 'users']) await readyIn(fleet, name, fleet.members);
    await sleep(3000);
  });

  afterAll(() => removeFleet(fleet));

  it('writes nothing but heartbeats over a quiet minute, after Redis lost everything, and after a restart', async () => {
    const start = new Date().toISOString();
    await sleep(MINUTE);
    expect(await writesSince(fleet, start)).toEqual([]);

    const redis = new Redis(fleet.lab.redis.url);
    await redis.flushall();
    await redis.quit();
    await sleep(MINUTE / 4);
    const [replica] = fleet.replicas;
    expect(replica?.log.some(({ msg }) => msg === 'redis lost data, or may have: every key is added again')).toBe(true);
    expect(replica?.running).toBe(true);
    expect(await writesSince(fleet, start)).toEqual([]);

    await replica?.end('SIGTERM');
    await startReady(fleet, 'atoll-a');
    await membersReady(fleet);
    await sleep(MINUTE / 4);
    expect(await writesSince(fleet, start)).toEqual([]);
  });
});
