/**
 * Disturbs for `--minutes`, and looks whether all is as it was:
 *
 *   npm run soak                            informers on a real API server, 30 minutes, behind a proxy that does harm
 *   npm run soak -- --minutes 2 --seed 7    at least one round of all faults; the same seed gives the same faults
 *   npm run soak -- fleet --minutes 10      Atoll installed on three members: edits, deletions, replicas that die
 *
 * Ends with 1 when it is not.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { systemClock } from '../src/kernel/index.ts';
import { soakFleet } from './fleet/fleet-soak.ts';
import { soakInformers } from './soak/soak-informers.ts';

const MINUTE = 60_000;
const SUBJECTS = ['informers', 'fleet'];
const DEFAULT_MINUTES: Readonly<Record<string, number>> = { informers: 30, fleet: 10 };

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { minutes: { type: 'string' }, seed: { type: 'string' } },
    allowPositionals: true,
  });
  const [subject = 'informers', ...more] = positionals;
  const minutes = Number(values.minutes ?? DEFAULT_MINUTES[subject]);
  const seed = Number(values.seed ?? Math.floor(systemClock.now() % 1e6));
  if (!SUBJECTS.includes(subject) || more.length > 0 || !(minutes > 0) || !Number.isInteger(seed)) {
    console.error('usage: npm run soak -- [informers | fleet] [--minutes NUMBER] [--seed INTEGER]');
    return 2;
  }
  const milliseconds = minutes * MINUTE;
  return subject === 'fleet' ? soakFleet(milliseconds) : soakInformers({ milliseconds, seed });
}

process.exitCode = await main();
