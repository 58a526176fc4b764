/**
 * Measures, and holds what it measured against bars:
 *
 *   npm run bench                            everything
 *   npm run bench -- transport informers     only these subjects: transport, informers, fleet
 *
 * Bars are exact counts and ratios taken in the same run. Ends with 1 when one is missed.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { benchFleet } from './fleet/fleet-bench.ts';
import { onHub } from './hub.ts';
import { Report } from './report.ts';
import { benchTransport } from './transport/transport-bench.ts';

const subjects: Readonly<Record<string, (report: Report) => Promise<void>>> = {
  transport: (report) => onHub((lab) => benchTransport(lab, report)),
  fleet: benchFleet,
};

async function main(): Promise<number> {
  const { positionals } = parseArgs({ allowPositionals: true });
  const unknown = positionals.filter((name) => subjects[name] === undefined);
  if (unknown.length > 0) {
    console.error(`No such subject: ${unknown.join(', ')}. There are: ${Object.keys(subjects).join(', ')}.`);
    return 2;
  }
  const report = new Report();
  for (const name of positionals.length > 0 ? positionals : Object.keys(subjects)) await subjects[name]?.(report);
  return report.conclude();
}

process.exitCode = await main();
