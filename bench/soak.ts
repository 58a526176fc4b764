import { parseArgs } from 'node:util';
import { systemClock } from '../src/kernel/index.ts';
import { startLab } from '../test/lab/index.ts';
import type { Fleet } from '../test/installation/index.ts';
import {
  commitToLastMember,
  manifest,
  residentMemory,
  startFleet,
  startReady,
  untilReady,
  writesSince,
} from './bench-fleet.ts';

const QUIET = 60_000;

/** What a soak does to a fleet between two looks. */
type Disturbance = (fleet: Fleet, round: number) => Promise<void>;

const disturbances: Readonly<Record<string, Disturbance>> = {
  commit: async (fleet, round) => {
    await commitToLastMember(fleet, 'a', String(round));
  },
  'edit a child': async (fleet) => {
    await fleet.kubectl(
      'us-1',
      '-n',
      fleet.team,
      'patch',
      'statefulset',
      'a',
      '--type',
      'merge',
      '-p',
      '{"spec":{"replicas":3}}',
    );
  },
  'delete a child': async (fleet) => {
    await fleet.kubectl('eu-1', '-n', fleet.team, 'delete', 'service', 'a-headless');
  },
  'delete a member object': async (fleet) => {
    await fleet.kubectl('ap-1', '-n', fleet.team, 'delete', 'rediscluster', 'a', '--wait=false');
  },
  'kill a replica': async (fleet, round) => {
    await fleet.replicas.find(({ running }) => running)?.end('SIGKILL');
    await startReady(fleet, `soak-${round}`);
  },
  'stop a replica': async (fleet, round) => {
    await fleet.replicas.find(({ running }) => running)?.end('SIGTERM');
    await startReady(fleet, `soak-${round}`);
  },
};

/**
 * Disturbs a fleet in turn for `--minutes` (10), looks each time whether it comes to rest, and at the end whether a
 * quiet minute has no write. Exits non-zero when it does not.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
  const progress = (line: string): void => console.log(`  ${line}`);
  const lab = await startLab({ members: ['eu-1', 'us-1', 'ap-1'], audit: true, workloads: true, progress });
  try {
    const fleet = await startFleet(lab, ['soak-a', 'soak-b']);
    try {
      return await soak(fleet, Number(values.minutes) * 60_000);
    } finally {
      await fleet.close();
    }
  } finally {
    await lab.stop();
  }
}

async function soak(fleet: Fleet, milliseconds: number): Promise<number> {
  await fleet.commit({ 'apps/a.yaml': manifest('a', '0') }, 'Begin');
  await untilReady(fleet, 'a');
  const deadline = systemClock.monotonic() + milliseconds;
  const kinds = Object.entries(disturbances);
  for (let round = 1; systemClock.monotonic() < deadline; round += 1) {
    const [name, disturb] = kinds[round % kinds.length] ?? ['commit', disturbances['commit']];
    await disturb?.(fleet, round);
    await untilReady(fleet, 'a');
    const memory = await Promise.all(
      fleet.replicas.filter(({ running }) => running).map((replica) => residentMemory(replica)),
    );
    console.log(
      `${String(round).padStart(4)}  ${name.padEnd(24)} at rest; ${memory.map((mib) => mib.toFixed(0)).join(', ')} MiB`,
    );
  }
  const start = new Date(systemClock.now()).toISOString();
  await systemClock.sleep(QUIET);
  const writes = await writesSince(fleet, start);
  console.log(`writes in the quiet minute at the end: ${writes.length}`);
  for (const write of writes) console.log(`  ${write}`);
  return writes.length === 0 ? 0 : 1;
}

process.exitCode = await main();
