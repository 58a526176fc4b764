import { systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { held, readyIn, startReady, writesSince } from '../../test/installation/index.ts';
import type { Fleet } from '../../test/installation/index.ts';
import { eventually } from '../../test/support/eventually.ts';
import { commitToLastMember, manifest, onFleet, residentMemory } from './bench-fleet.ts';

/** For the last writes of a disturbance to be through. */
const SETTLING = 5000;
const QUIET = 60_000;

/** What a soak does to a fleet; ends when Atoll has done its part. */
type Disturbance = (fleet: Fleet, round: number) => Promise<void>;

const disturbances: Readonly<Record<string, Disturbance>> = {
  commit: async (fleet, round) => {
    await commitToLastMember(fleet, 'a', String(round));
  },
  'edit a child': async (fleet) => {
    const patch = '{"spec":{"replicas":3}}';
    await fleet.kubectl('us-1', '-n', fleet.team, 'patch', 'statefulset', 'a', '--type', 'merge', '-p', patch);
    const replicas = async (): Promise<unknown> => specOf(await fleet.read('us-1', 'StatefulSet', 'a'))['replicas'];
    await repaired('the edited StatefulSet', async () => (await replicas()) === 1);
  },
  'delete a child': async (fleet) => {
    await fleet.kubectl('eu-1', '-n', fleet.team, 'delete', 'service', 'a-headless');
    await repaired(
      'the deleted Service',
      async () => (await fleet.read('eu-1', 'Service', 'a-headless')) !== undefined,
    );
  },
  'delete a member object': async (fleet) => {
    const uid = async (): Promise<string | undefined> => (await fleet.read('ap-1', 'RedisCluster', 'a'))?.metadata.uid;
    const before = await uid();
    await fleet.kubectl('ap-1', '-n', fleet.team, 'delete', 'rediscluster', 'a', '--wait=false');
    await repaired('the deleted RedisCluster', async () => ![undefined, before].includes(await uid()));
  },
  'kill a replica': (fleet, round) => replace(fleet, 'SIGKILL', `soak-${round}`),
  'stop a replica': (fleet, round) => replace(fleet, 'SIGTERM', `soak-${round}`),
};

/** Waits for Atoll to undo what was done; a replica may have been killed just before. */
async function repaired(what: string, attempt: () => Promise<boolean>): Promise<void> {
  await eventually(attempt, { timeout: 120_000, message: `${what} was not repaired` });
}

/** Ends when the new replica has its share of the shards, so that none moves afterwards. */
async function replace(fleet: Fleet, signal: 'SIGTERM' | 'SIGKILL', name: string): Promise<void> {
  await fleet.replicas.find(({ running }) => running)?.end(signal);
  const fresh = await startReady(fleet, name);
  const share = Math.floor((fleet.members.length + 1) / fleet.replicas.filter(({ running }) => running).length);
  await repaired('the loss of a replica', () => Promise.resolve(held(fleet, fresh).length >= share));
}

function specOf(object: KubernetesObject | undefined): Readonly<Record<string, unknown>> {
  return (object?.['spec'] ?? {}) as Readonly<Record<string, unknown>>;
}

/**
 * Disturbs a fleet in turn for so many milliseconds, looks each time whether it comes to rest, and at the end whether a
 * quiet minute has no write.
 *
 * @returns the exit code, not 0 when it has
 */
export async function soakFleet(milliseconds: number): Promise<number> {
  return onFleet(['soak-a', 'soak-b'], (fleet) => soak(fleet, milliseconds));
}

async function soak(fleet: Fleet, milliseconds: number): Promise<number> {
  await fleet.commit({ 'apps/a.yaml': manifest('a', '0') }, 'Begin');
  await readyIn(fleet, 'a', fleet.members);
  const deadline = systemClock.monotonic() + milliseconds;
  const kinds = Object.entries(disturbances);
  for (let round = 1; systemClock.monotonic() < deadline; round += 1) {
    const [name, disturb] = kinds[round % kinds.length] ?? ['commit', disturbances['commit']];
    await disturb?.(fleet, round);
    await readyIn(fleet, 'a', fleet.members);
    const memory = await Promise.all(
      fleet.replicas.filter(({ running }) => running).map((replica) => residentMemory(replica)),
    );
    console.log(
      `${String(round).padStart(4)}  ${name.padEnd(24)} at rest; ${memory.map((mib) => mib.toFixed(0)).join(', ')} MiB`,
    );
  }
  await systemClock.sleep(SETTLING);
  const start = new Date(systemClock.now()).toISOString();
  await systemClock.sleep(QUIET);
  const writes = await writesSince(fleet, start);
  console.log(`writes in the quiet minute at the end: ${writes.length}`);
  for (const write of writes) console.log(`  ${write}`);
  return writes.length === 0 ? 0 : 1;
}
