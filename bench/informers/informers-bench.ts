import { availableParallelism, loadavg } from 'node:os';
import { systemClock } from '../../src/kernel/index.ts';
import type { Connection } from '../../src/kubernetes/index.ts';
import type { Lab } from '../../test/lab/index.ts';
import { connectionTo } from '../hub.ts';
import { inOwnProcess } from '../own-process.ts';
import { atMost } from '../report.ts';
import type { Report } from '../report.ts';
import { median } from '../statistics.ts';
import { COLD_START_KINDS, SYNC_KINDS } from './kinds.ts';
import type { BenchKind } from './kinds.ts';
import { populate } from './population.ts';
import type { SyncCost, SyncQuestion } from './sync-process.ts';
import { benchWatch } from './watch-bench.ts';

const PROCESS = new URL('sync-process.ts', import.meta.url);
const RUNS = 5;

const BLOCK_BAR = 50;
const HEAP_BARS = { full: 6, metadata: 1 };
const LAG_BAR = 100;
const RESIDENT_BAR = 2;

/** First sync of two kinds, events of a watch, and a cold start of ten kinds, with so many objects of each. */
export async function benchInformers(lab: Lab, report: Report, perKind: number): Promise<void> {
  const connection = connectionTo(lab);
  const progress = (line: string): void => report.note(line);
  report.section('Objects on a real API server');
  noteLoad(report);
  await populate(connection, SYNC_KINDS, perKind, progress);
  for (const kind of SYNC_KINDS) await benchSync(connection, kind, report);
  for (const kind of SYNC_KINDS) await benchWatch(connection, kind, report);
  report.section('More objects on the same API server');
  await populate(connection, COLD_START_KINDS.slice(SYNC_KINDS.length), perKind, progress);
  await benchColdStart(connection, report);
}

/** Waiting for a core looks like a block; only CPU times are to be trusted then. */
function noteLoad(report: Report): void {
  const [load = 0] = loadavg();
  const cores = availableParallelism();
  if (load <= cores) return;
  report.note(
    `other work is going on (load ${load.toFixed(1)} on ${cores} cores): blocks below include waiting for a core`,
  );
}

/** Each form and path in processes of their own, in turn, against the bare list of the same objects. */
async function benchSync(connection: Connection, kind: BenchKind, report: Report): Promise<void> {
  const cases = [
    { form: 'bare', path: 'listed' },
    { form: 'full', path: 'streamed' },
    { form: 'full', path: 'listed' },
    { form: 'metadata', path: 'streamed' },
    { form: 'metadata', path: 'listed' },
  ] as const;
  const costs = new Map<(typeof cases)[number], SyncCost[]>(cases.map((one) => [one, []]));
  for (let run = 0; run < RUNS; run += 1) {
    for (const one of cases) costs.get(one)?.push(await sync(connection, [kind], one));
  }
  const middle = (one: (typeof cases)[number], of: keyof SyncCost): number =>
    median((costs.get(one) ?? []).map((cost) => cost[of]));
  const objects = costs.get(cases[0])?.[0]?.objects ?? 0;
  report.section(`First sync of ${objects.toLocaleString('en')} ${kind.kind}s, middle of ${RUNS} runs`);
  report.table(
    ['', 'time', 'own CPU', 'beside bare', 'longest block', 'CPU in one turn', 'heap/object'],
    cases.map((one) => [
      nameOf(one),
      seconds(middle(one, 'elapsed')),
      seconds(middle(one, 'cpu')),
      `${(middle(one, 'cpu') / middle(cases[0], 'cpu')).toFixed(2)}×`,
      `${middle(one, 'longest').toFixed(0)} ms`,
      `${middle(one, 'longestCpu').toFixed(0)} ms`,
      kibibytes(middle(one, 'heapPerObject')),
    ]),
  );
  for (const one of cases) {
    if (one.form === 'bare') continue;
    const name = `${kind.kind}s, ${nameOf(one)}`;
    const longest = middle(one, 'longest');
    report.row(`longest block: ${name}`, `${longest.toFixed(0)} ms`, atMost(longest, BLOCK_BAR, ' ms'));
    const heap = middle(one, 'heapPerObject') / 1024;
    report.row(`heap per object: ${name}`, `${heap.toFixed(2)} KiB`, atMost(heap, HEAP_BARS[one.form], ' KiB'));
  }
}

/** Ten informers at once: what a replica does that starts. */
async function benchColdStart(connection: Connection, report: Report): Promise<void> {
  const floor = await sync(connection, COLD_START_KINDS, { form: 'bare', path: 'listed' });
  const full = await sync(connection, COLD_START_KINDS, { form: 'full', path: 'streamed' });
  const metadata = await sync(connection, COLD_START_KINDS, { form: 'metadata', path: 'streamed' });
  const rows = [
    ['bare lists and JSON.parse', floor],
    ['full without managedFields, streamed', full],
    ['metadata only, streamed', metadata],
  ] as const;
  const objects = `${full.objects.toLocaleString('en')} real objects`;
  report.section(`Cold start: ${objects} of ${COLD_START_KINDS.length} kinds, all informers at once`);
  report.table(
    [
      '',
      'time',
      'own CPU',
      'lag p99',
      'longest block',
      'CPU in one turn',
      'peak memory',
      'steady memory',
      'heap/object',
    ],
    rows.map(([name, cost]) => [
      name,
      seconds(cost.elapsed),
      seconds(cost.cpu),
      `${cost.p99.toFixed(0)} ms`,
      `${cost.longest.toFixed(0)} ms`,
      `${cost.longestCpu.toFixed(0)} ms`,
      mebibytes(cost.peakResident),
      mebibytes(cost.steadyResident),
      kibibytes(cost.heapPerObject),
    ]),
  );
  const time = full.elapsed / floor.elapsed;
  report.row('time until all have synced', `${time.toFixed(2)}× the bare lists`);
  report.row('event loop lag, p99', `${full.p99.toFixed(0)} ms`, atMost(full.p99, LAG_BAR, ' ms'));
  const peak = full.peakResident / full.steadyResident;
  report.row('peak beside steady memory', `${peak.toFixed(2)}×`, atMost(peak, RESIDENT_BAR, '×'));
}

async function sync(
  connection: Connection,
  kinds: readonly BenchKind[],
  how: Pick<SyncQuestion, 'form' | 'path'>,
): Promise<SyncCost> {
  // What the server did for the last question is not to be in this one's time.
  await systemClock.sleep(1000);
  const asked = kinds.map(({ group, version, kind, plural }) => ({ group, version, kind, plural }));
  return inOwnProcess<SyncCost>(PROCESS, { connection, kinds: asked, ...how } satisfies SyncQuestion);
}

function nameOf({ form, path }: Pick<SyncQuestion, 'form' | 'path'>): string {
  if (form === 'bare') return 'bare list and JSON.parse';
  return `${form === 'full' ? 'full without managedFields' : 'metadata only'}, ${path}`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

function kibibytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(2)} KiB`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
}
