import { systemClock } from '../src/kernel/index.ts';
import { startLab } from '../test/lab/index.ts';
import type { Fleet } from '../test/installation/index.ts';
import { eventually } from '../test/support/eventually.ts';
import {
  commitToLastMember,
  gains,
  manifest,
  residentMemory,
  startFleet,
  startReady,
  summarize,
  untilReady,
  writesSince,
} from './bench-fleet.ts';

const COMMITS = 20;
const KILLS = 5;
const MINUTE = 60_000;

/** Prints the figures that the README quotes, each measured on a lab of its own. */
async function main(): Promise<void> {
  const lab = await startLab({
    members: ['eu-1', 'us-1', 'ap-1'],
    audit: true,
    workloads: true,
    progress: (line) => console.log(`  ${line}`),
  });
  try {
    const fleet = await startFleet(lab, ['bench-0', 'bench-1']);
    try {
      await measure(fleet);
    } finally {
      await fleet.close();
    }
  } finally {
    await lab.stop();
  }
}

async function measure(fleet: Fleet): Promise<void> {
  await fleet.commit({ 'apps/a.yaml': manifest('a', '0') }, 'Begin');
  await untilReady(fleet, 'a');
  const times: number[] = [];
  for (let index = 1; index <= COMMITS; index += 1) {
    times.push(await commitToLastMember(fleet, 'a', String(index)));
    await untilReady(fleet, 'a');
  }
  const { p50, p95 } = summarize(times);
  print('commit → last member', `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms of ${COMMITS} commits, 3 members`);

  await untilReady(fleet, 'a');
  await systemClock.sleep(5000);
  const start = new Date(systemClock.now()).toISOString();
  await systemClock.sleep(MINUTE);
  print('writes in a quiet minute', `${(await writesSince(fleet, start)).length} (heartbeats aside)`);
  const memory = await Promise.all(fleet.replicas.map((replica) => residentMemory(replica)));
  print('resident memory', `${memory.map((value) => value.toFixed(0)).join(' and ')} MiB, two replicas`);

  const takeovers: number[] = [];
  for (let kill = 1; kill <= KILLS; kill += 1) takeovers.push(await takeover(fleet, `bench-k${kill}`));
  const { worst } = summarize(takeovers);
  const all = takeovers.map((value) => (value / 1000).toFixed(1)).join(', ');
  print('takeover after SIGKILL', `worst ${(worst / 1000).toFixed(1)} s of ${KILLS} (${all}), at 15/10/2 s leases`);
}

/** Kills the replica with the most shards. @returns milliseconds until another has gained the last of them */
async function takeover(fleet: Fleet, replacement: string): Promise<number> {
  const running = fleet.replicas.filter((replica) => replica.running);
  const owner = new Map<string, string>();
  const events = running.flatMap((replica) => gains(replica).map((gain) => ({ ...gain, name: replica.name })));
  for (const { shard, name } of events.toSorted((a, b) => a.time - b.time)) owner.set(shard, name);
  const held = (name: string): string[] => [...owner].filter(([, holder]) => holder === name).map(([shard]) => shard);
  const [victim, survivor] = running.toSorted((a, b) => held(b.name).length - held(a.name).length);
  if (victim === undefined || survivor === undefined) throw new Error('two replicas are needed');
  const shards = held(victim.name);
  const killed = systemClock.now();
  await victim.end('SIGKILL');
  const last = await eventually(
    () => {
      const taken = gains(survivor).filter(({ shard, time }) => shards.includes(shard) && time >= killed);
      return taken.length >= shards.length ? Math.max(...taken.map(({ time }) => time)) : undefined;
    },
    { timeout: 60_000, message: `${survivor.name} did not take over ${shards.join(', ')}` },
  );
  const fresh = await startReady(fleet, replacement);
  await eventually(() => gains(fresh).length > 0, { timeout: 60_000, message: `${replacement} got no shard` });
  return last - killed;
}

function print(figure: string, value: string): void {
  console.log(`${figure.padEnd(26)} ${value}`);
}

await main();
