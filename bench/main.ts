/**
 * Measures, and holds what it measured against bars:
 *
 *   npm run bench                            everything
 *   npm run bench -- transport informers     only these subjects: transport, informers, apply, workqueue, takeover, fleet
 *   npm run bench -- informers --objects 1000   with a tenth of the objects, for a try
 *
 * Bars are exact counts, ratios taken in the same run, and what lease times promise. Ends with 1 when one is missed.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { benchApply } from './apply/apply-bench.ts';
import { benchFleet } from './fleet/fleet-bench.ts';
import { onHub } from './hub.ts';
import { benchInformers } from './informers/informers-bench.ts';
import { Report } from './report.ts';
import { benchTakeover } from './takeover/takeover-bench.ts';
import { benchTransport } from './transport/transport-bench.ts';
import { benchWorkqueue } from './workqueue/workqueue-bench.ts';

/** Of each of the ten kinds of the cold start. */
const OBJECTS_PER_KIND = '10000';

const subjects: Readonly<Record<string, (report: Report, perKind: number) => Promise<void>>> = {
  transport: (report) => onHub((lab) => benchTransport(lab, report)),
  informers: (report, perKind) => onHub((lab) => benchInformers(lab, report, perKind)),
  // A member has half as many objects as a kind of the cold start.
  apply: (report, perKind) => benchApply(report, Math.ceil(perKind / 2)),
  takeover: (report) => onHub((lab) => benchTakeover(lab, report)),
  fleet: benchFleet,
  workqueue: benchWorkqueue,
};

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { objects: { type: 'string', default: OBJECTS_PER_KIND } },
  });
  const perKind = Number(values.objects);
  const unknown = positionals.filter((name) => subjects[name] === undefined);
  if (unknown.length > 0 || !Number.isInteger(perKind) || perKind < 1) {
    const names = Object.keys(subjects).join(' | ');
    console.error(`usage: npm run bench -- [${names}] … [--objects INTEGER]`);
    return 2;
  }
  const report = new Report();
  for (const name of positionals.length > 0 ? positionals : Object.keys(subjects))
    await subjects[name]?.(report, perKind);
  return report.conclude();
}

process.exitCode = await main();
