import { atMost } from '../report.ts';
import type { Bar, Report } from '../report.ts';
import { summarize } from '../statistics.ts';
import { faults } from './faults.ts';
import type { SubjectState } from './subject.ts';
import type { Resources } from './subject-process.ts';
import type { Writes } from './writer.ts';

/** All faults once, and what was found when all had come to rest. */
export interface Round {
  readonly order: readonly string[];
  /** Milliseconds for which half-open connections were taken for live ones, where that was waited for. */
  readonly noticed: readonly number[];
  /** Milliseconds until all was equal. */
  readonly convergence: number;
  readonly differences: readonly string[];
  /** How many caches and handlers were compared, and how many objects the caches had. */
  readonly compared: number;
  readonly objects: number;
  /** Of the subject, informers running. */
  readonly resources: Resources;
}

/** What a soak has to show. */
export interface SoakOutcome {
  readonly rounds: readonly Round[];
  readonly state: SubjectState;
  /** Of the subject without informers: before the first round, and after the last. */
  readonly before: Resources;
  readonly after: Resources;
  /** Watches that were passed on when all was at rest; connections when the subject had stopped. */
  readonly watches: number;
  readonly connections: number;
  readonly record: ReadonlyMap<string, number>;
  readonly writes: Writes;
}

/** What V8 may hold more of than before: code that was compiled on the way, and its own bookkeeping. */
const HEAP_MARGIN = 4;
const MEBIBYTE = 1024 * 1024;
const SHOWN = 20;
/** An idle watch is cut after 90 s at most; a little for the machine. */
const NOTICE_BAR = 95;

/** Prints everything, and holds it against what has to be. */
export function concludeSoak(outcome: SoakOutcome, report: Report): void {
  showFaults(outcome, report);
  showSubject(outcome, report);
  showEquality(outcome, report);
  showResources(outcome, report);
}

function showFaults({ rounds, record }: SoakOutcome, report: Report): void {
  report.section('Faults, as the proxy recorded them');
  const happened = (name: string): number => record.get(name) ?? 0;
  const names = Object.keys(faults);
  report.table(
    ['', 'injected', 'met'],
    names.map((name) => [name, String(rounds.length), String(happened(name))]),
  );
  const missing = names.filter((name) => happened(name) < rounds.length);
  report.row(
    'sorts of faults that happened',
    `${names.length - missing.length} of ${names.length}`,
    none(missing.length),
  );
  const refusals = happened('401: token not accepted');
  report.row('requests with a token that was not accepted any more', String(refusals), some(refusals));
}

function showSubject({ rounds, state, writes, record }: SoakOutcome, report: Report): void {
  report.section('What went on');
  report.row('writes', `${writes.create} created, ${writes.change} changed, ${writes.delete} deleted`);
  report.row(
    'requests seen by the proxy',
    `${record.get('watches') ?? 0} watches, ${record.get('other requests') ?? 0} others`,
  );
  report.row('notifications to handlers', String(state.told));
  report.row('informers that came and were released', String(state.passed), some(state.passed));
  showNotice(rounds, report);
  const { p50, worst } = summarize(rounds.map(({ convergence }) => convergence / 1000));
  report.row(
    'from the end of a round until all was equal',
    `middle ${p50.toFixed(1)} s, longest ${worst.toFixed(1)} s`,
  );
  for (const [name, value] of Object.entries(state.counts).toSorted(([a], [b]) => a.localeCompare(b))) {
    report.row(name, String(value));
  }
}

function showNotice(rounds: readonly Round[], report: Report): void {
  const noticed = rounds.flatMap((round) => round.noticed.map((milliseconds) => milliseconds / 1000));
  if (noticed.length === 0) return;
  const { p50, worst } = summarize(noticed);
  const value = `middle ${p50.toFixed(1)} s, longest ${worst.toFixed(1)} s`;
  report.row('half-open connections, until noticed', value, atMost(worst, NOTICE_BAR, ' s'));
}

function showEquality({ rounds, state, watches }: SoakOutcome, report: Report): void {
  report.section('Equality with the server, object by object, by UID and resourceVersion');
  const compared = rounds.reduce((sum, round) => sum + round.compared, 0);
  const wrong = rounds.flatMap(({ differences }) => differences);
  report.row('caches and handlers that were compared', String(compared), some(compared));
  report.row('differences', String(wrong.length), none(wrong.length));
  for (const line of wrong.slice(0, SHOWN)) report.note(line);
  report.row('what must not happen, and did', String(state.violations.length), none(state.violations.length));
  for (const line of state.violations.slice(0, SHOWN)) report.note(line);
  report.row(
    'watches at rest beyond one per informer',
    String(watches - state.informers),
    none(watches - state.informers),
  );
}

function showResources({ rounds, before, after, connections }: SoakOutcome, report: Report): void {
  report.section('Resources of the process, everything released, beside before');
  const types = [...new Set([...Object.keys(before.handles), ...Object.keys(after.handles)])].toSorted();
  for (const type of types) {
    const [was = 0, is = 0] = [before.handles[type], after.handles[type]];
    report.row(type, `${was} → ${is}`, atMost(is, was));
  }
  report.row('connections at the proxy', String(connections), none(connections));
  report.row('timers set by the rooms', `${before.timers.length} → ${after.timers.length}`, none(after.timers.length));
  for (const origin of after.timers.slice(0, SHOWN)) report.note(origin);
  const grown = (after.heap - before.heap) / MEBIBYTE;
  const heap = `${(before.heap / MEBIBYTE).toFixed(1)} → ${(after.heap / MEBIBYTE).toFixed(1)} MiB`;
  report.row('heap', heap, atMost(grown, HEAP_MARGIN, ' MiB more'));
  const [first, last] = [rounds[0]?.resources, rounds.at(-1)?.resources];
  if (!first || !last || first === last) return;
  const rise = (last.heap - first.heap) / MEBIBYTE;
  const running = `${(first.heap / MEBIBYTE).toFixed(1)} → ${(last.heap / MEBIBYTE).toFixed(1)} MiB`;
  report.row('heap with informers running, first and last round', running, atMost(rise, HEAP_MARGIN, ' MiB more'));
}

function none(count: number): Bar {
  return { text: 'none', holds: count === 0 };
}

function some(count: number): Bar {
  return { text: 'some', holds: count > 0 };
}
