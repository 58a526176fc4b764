/**
 * Disturbs for `--minutes`, and looks whether all is as it was:
 *
 *   npm run soak                            informers on a real API server, 30 minutes, behind a proxy that does harm
 *   npm run soak -- --minutes 2 --seed 7    at least one round of all faults; the same seed gives the same faults
 *   npm run soak -- fleet --minutes 10      Atoll installed on three members: edits, deletions, replicas that die
 *   npm run soak -- queue --minutes 10      three workers of one queue: killed, frozen; Redis hangs, is emptied, falls back
 *
 * Ends with 1 when it is not.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { systemClock } from '../src/kernel/index.ts';
import { soakFleet } from './fleet/fleet-soak.ts';
import { soakInformers } from './soak/soak-informers.ts';
import type { SoakOptions } from './soak/soak-informers.ts';
import { soakQueue } from './soak/soak-queue.ts';

const MINUTE = 60_000;

/** A subject, and for how many minutes when nothing else is said. */
const SUBJECTS: Readonly<
  Record<string, { readonly soak: (options: SoakOptions) => Promise<number>; readonly minutes: number }>
> = {
  informers: { soak: soakInformers, minutes: 30 },
  fleet: { soak: ({ milliseconds }) => soakFleet(milliseconds), minutes: 10 },
  queue: { soak: soakQueue, minutes: 10 },
};

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { minutes: { type: 'string' }, seed: { type: 'string' } },
    allowPositionals: true,
  });
  const [name = 'informers', ...more] = positionals;
  const subject = SUBJECTS[name];
  const minutes = Number(values.minutes ?? subject?.minutes);
  const seed = Number(values.seed ?? Math.floor(systemClock.now() % 1e6));
  if (subject === undefined || more.length > 0 || !(minutes > 0) || !Number.isInteger(seed)) {
    console.error(`usage: npm run soak -- [${Object.keys(SUBJECTS).join(' | ')}] [--minutes NUMBER] [--seed INTEGER]`);
    return 2;
  }
  return subject.soak({ milliseconds: minutes * MINUTE, seed });
}

process.exitCode = await main();
