/**
 * Disturbs for `--minutes`, and looks whether all is as it was:
 *
 *   npm run soak -- fleet --minutes 10    Atoll installed on three members: edits, deletions, replicas that die
 *
 * Ends with 1 when it is not.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { soakFleet } from './fleet/fleet-soak.ts';

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } }, allowPositionals: true });
  return soakFleet(Number(values.minutes) * 60_000);
}

process.exitCode = await main();
