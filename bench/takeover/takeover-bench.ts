import { systemClock } from '../../src/kernel/index.ts';
import type { Lab } from '../../test/lab/index.ts';
import { eventually } from '../../test/support/eventually.ts';
import { asBench, connectionTo, openClient } from '../hub.ts';
import { atMost } from '../report.ts';
import type { Report } from '../report.ts';
import { summarize } from '../statistics.ts';
import { Holder } from './holder.ts';

/** Groups of replicas take over beside each other: a kill is mostly waiting for a lease. */
const GROUPS = 4;
/** Kills, and clean stops, of each group. */
const ROUNDS = 5;
const SHARDS = ['hub', ...Array.from({ length: 9 }, (_, index) => `member-${index}`)];
/** Seconds: lease 15 s, two retries of 2 s, jittered, and the requests. */
const KILL_BAR = 20;
const STOP_BAR = 2;
const PATIENCE = 60_000;

type End = 'SIGKILL' | 'SIGTERM';

/**
 * How long shards are without an owner when a replica is killed, and when it is stopped: from the signal to the moment in which the
 * last of its shards is held by another, epoch on the hub included. What then has to be listed again is not in it.
 */
export async function benchTakeover(lab: Lab, report: Report): Promise<void> {
  const taken: Record<End, number[]> = { SIGKILL: [], SIGTERM: [] };
  const note = (end: End, seconds: number): void => {
    taken[end].push(seconds);
    console.log(`  ${end} ${taken[end].length} of ${GROUPS * ROUNDS}: ${seconds.toFixed(2)} s`);
  };
  const names = Array.from({ length: GROUPS }, (_, index) => `takeover-${index}`);
  await Promise.all(names.map((name) => playGroup(lab, name, note)));

  report.section(`Takeover of ${SHARDS.length / 2} shards, real lease times, ${GROUPS} groups at once`);
  for (const [end, what, bar] of [
    ['SIGKILL', 'kill', KILL_BAR],
    ['SIGTERM', 'clean stop', STOP_BAR],
  ] as const) {
    const { p50, worst } = summarize(taken[end]);
    const count = taken[end].length;
    report.row(`until another holds the shards: ${what}, middle of ${count}`, `${p50.toFixed(2)} s`);
    report.row(
      `until another holds the shards: ${what}, worst of ${count}`,
      `${worst.toFixed(2)} s`,
      atMost(worst, bar, ' s'),
    );
  }
}

/** Two replicas; again and again one of them ends, and a new one takes its place. */
async function playGroup(lab: Lab, group: string, note: (end: End, seconds: number) => void): Promise<void> {
  const client = openClient(connectionTo(lab));
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: group } }, asBench);
  await client.close();
  const { kubeconfigPath } = lab.hub;
  let started = 0;
  const start = (): Holder =>
    new Holder({ redisUrl: lab.redis.url, kubeconfigPath, group, name: `replica-${(started += 1)}`, shards: SHARDS });
  const holders = [start(), start()];
  try {
    for (let round = 0; round < ROUNDS * 2; round += 1) {
      await even(holders);
      const end = round % 2 === 0 ? 'SIGKILL' : 'SIGTERM';
      note(end, await takeover(holders, end));
      holders.push(start());
    }
  } finally {
    for (const holder of holders) holder.destroy();
  }
}

/** Ends the older one. @returns seconds until the other has its shards */
async function takeover(holders: Holder[], end: End): Promise<number> {
  const victim = holders.shift();
  const [survivor] = holders;
  if (victim === undefined || survivor === undefined) throw new Error('there are not two replicas');
  const shards = [...victim.held.keys()];
  const signalled = systemClock.now();
  await victim.end(end);
  await eventually(() => survivor.held.size === SHARDS.length, {
    timeout: PATIENCE,
    message: `${survivor.name} does not take over`,
  });
  return (Math.max(...shards.map((shard) => survivor.held.get(shard) ?? Number.NaN)) - signalled) / 1000;
}

async function even(holders: readonly Holder[]): Promise<void> {
  const share = SHARDS.length / holders.length;
  await eventually(() => holders.every(({ held }) => held.size === share), {
    timeout: PATIENCE,
    message: 'the shards are not spread evenly',
  });
}
