import { systemClock } from '../../src/kernel/index.ts';
import { gains, held, readyIn, startReady, writesSince } from '../../test/installation/index.ts';
import type { Fleet } from '../../test/installation/index.ts';
import { eventually } from '../../test/support/eventually.ts';
import { atMost } from '../report.ts';
import type { Report } from '../report.ts';
import { summarize } from '../statistics.ts';
import { commitToLastMember, manifest, onFleet, residentMemory } from './bench-fleet.ts';

const COMMITS = 20;
const KILLS = 5;
const MINUTE = 60_000;

/** Prints how fast, how quiet, how large and how soon replaced Atoll is, measured on a lab of its own. */
export async function benchFleet(report: Report): Promise<void> {
  report.section('A fleet of three members, two replicas');
  await onFleet(['bench-0', 'bench-1'], (fleet) => measureFleet(fleet, report));
}

async function measureFleet(fleet: Fleet, report: Report): Promise<void> {
  await fleet.commit({ 'apps/a.yaml': manifest('a', '0') }, 'Begin');
  await readyIn(fleet, 'a', fleet.members);
  const times: number[] = [];
  for (let index = 1; index <= COMMITS; index += 1) {
    times.push(await commitToLastMember(fleet, 'a', String(index)));
    await readyIn(fleet, 'a', fleet.members);
  }
  const { p50, p95 } = summarize(times);
  report.row(
    'commit → last member',
    `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms of ${COMMITS} commits, 3 members`,
  );

  await readyIn(fleet, 'a', fleet.members);
  await systemClock.sleep(5000);
  const start = new Date(systemClock.now()).toISOString();
  await systemClock.sleep(MINUTE);
  const writes = (await writesSince(fleet, start)).length;
  report.row('writes in a quiet minute', `${writes} (heartbeats aside)`, atMost(writes, 0));
  const memory = await Promise.all(fleet.replicas.map((replica) => residentMemory(replica)));
  report.row('resident memory', `${memory.map((value) => value.toFixed(0)).join(' and ')} MiB, two replicas`);

  const takeovers: number[] = [];
  for (let kill = 1; kill <= KILLS; kill += 1) takeovers.push(await takeover(fleet, `bench-k${kill}`));
  const { worst } = summarize(takeovers);
  const all = takeovers.map((value) => (value / 1000).toFixed(1)).join(', ');
  report.row(
    'takeover after SIGKILL',
    `worst ${(worst / 1000).toFixed(1)} s of ${KILLS} (${all}), at 15/10/2 s leases`,
  );
}

/** Kills the replica with the most shards. @returns milliseconds until another has gained the last of them */
async function takeover(fleet: Fleet, replacement: string): Promise<number> {
  const running = fleet.replicas.filter((replica) => replica.running);
  const [victim, survivor] = running.toSorted((a, b) => held(fleet, b).length - held(fleet, a).length);
  if (victim === undefined || survivor === undefined) throw new Error('two replicas are needed');
  const shards = held(fleet, victim);
  const killed = systemClock.now();
  await victim.end('SIGKILL');
  const last = await eventually(
    () => {
      const taken = gains([survivor]).filter(({ shard, time }) => shards.includes(shard) && time >= killed);
      return taken.length >= shards.length ? Math.max(...taken.map(({ time }) => time)) : undefined;
    },
    { timeout: 60_000, message: `${survivor.name} did not take over ${shards.join(', ')}` },
  );
  const fresh = await startReady(fleet, replacement);
  await eventually(() => gains([fresh]).length > 0, { timeout: 60_000, message: `${replacement} got no shard` });
  return last - killed;
}
