import { systemClock } from '../../src/kernel/index.ts';
import { eventually } from '../../test/support/eventually.ts';
import { FUZZ_DISTURBANCES, QueueFuzz } from '../../test/support/queue-fuzz.ts';
import type { FuzzDisturbance } from '../../test/support/queue-fuzz.ts';
import { atMost, Report } from '../report.ts';
import { seededRandom, shuffled } from './random.ts';
import type { SoakOptions } from './soak-informers.ts';

/** Of adding, before what is disturbed adds to it. */
const ADDING = 2000;
const LEAST_ADDS = 10_000;
/** What Redis loses and who holds a lock must not be in doubt at once: then only an owner's lease keeps runs apart. */
const OF_WORKERS = FUZZ_DISTURBANCES.filter((name) => name.endsWith('worker'));
const OF_REDIS = FUZZ_DISTURBANCES.filter((name) => !name.endsWith('worker'));

/**
 * Three processes work one queue while keys are added at random, workers are killed and frozen, and Redis hangs, is emptied
 * and falls back. Each round ends when every key has seen what was asked for last.
 *
 * @returns the exit code, not 0 when an add was lost or a key ran twice at a time
 */
export async function soakQueue({ milliseconds, seed }: SoakOptions): Promise<number> {
  const report = new Report();
  report.section(`Soak of ${milliseconds / 60_000} min with seed ${seed}: the workqueue`);
  const random = seededRandom(seed);
  const end = systemClock.monotonic() + milliseconds;
  const met = new Map<FuzzDisturbance, number>();
  const fuzz = await QueueFuzz.open(random);
  try {
    for (let round = 1; round === 1 || systemClock.monotonic() < end; round += 1) {
      const stretches = [[...OF_WORKERS, ...OF_WORKERS], OF_REDIS, OF_WORKERS];
      for (const disturbances of stretches) await fuzz.round(ADDING, shuffled(random, disturbances));
      for (const name of stretches.flat()) met.set(name, (met.get(name) ?? 0) + 1);
      const { adds, lost, overlaps } = await fuzz.counts();
      report.note(`round ${round}: ${adds} adds, ${lost} lost, ${overlaps} overlaps`);
    }
    for (const [name, times] of met) report.row(name, `${times} times`);
    await conclude(fuzz, report);
  } finally {
    await fuzz.close();
  }
  return report.conclude();
}

async function conclude(fuzz: QueueFuzz, report: Report): Promise<void> {
  const { adds, runs, failures, lost, overlaps, slowest } = await fuzz.counts();
  report.row('adds', String(adds), { text: `≥ ${LEAST_ADDS}`, holds: adds >= LEAST_ADDS });
  report.row('runs that wrote, and that failed', `${runs}, ${failures}`);
  report.row('keys that did not run after they were last added', String(lost), atMost(lost, 0));
  report.row('keys that ran twice at a time', String(overlaps), atMost(overlaps, 0));
  report.row('slowest round, from the last add until every key had run', `${(slowest / 1000).toFixed(1)} s`);
  const marks = await eventually(async () => ((await fuzz.marks()).length === 0 ? 0 : undefined)).catch(
    async () => (await fuzz.marks()).length,
  );
  report.row('keys that stay marked as waiting or running', String(marks), atMost(marks, 0));
}
