import { randomBytes } from 'node:crypto';
import { systemClock } from '../../src/kernel/index.ts';
import type { Random } from '../../src/kernel/index.ts';
import type { Lab } from '../../test/lab/index.ts';
import { RecordingProxy } from '../../test/support/recording-proxy.ts';
import { connectionTo, onHub } from '../hub.ts';
import { OwnProcess } from '../own-process.ts';
import { Report } from '../report.ts';
import { faults } from './faults.ts';
import type { FaultContext } from './faults.ts';
import { seededRandom, shuffled } from './random.ts';
import { concludeSoak } from './soak-report.ts';
import type { Round } from './soak-report.ts';
import { pathOf } from './scopes.ts';
import type { HeldState } from './subject.ts';
import type { Resources, SubjectAnswer, SubjectQuestion } from './subject-process.ts';
import type { Versions } from './view.ts';
import { Writer } from './writer.ts';

const PROCESS = new URL('subject-process.ts', import.meta.url);
/** Between two faults; what the first one started may still be going on. */
const GAP = { least: 500, range: 5500 };
/** A connection that is dead without a word is noticed within 90 s; then there are a backoff and a list. */
const CONVERGENCE_LIMIT = 180_000;
const CONVERGENCE_INTERVAL = 500;
/** What was stopped or released may have some last words to say. */
const SETTLING = 3000;

type SubjectProcess = OwnProcess<SubjectQuestion, SubjectAnswer>;

/** What takes part. */
interface Stage {
  readonly lab: Lab;
  readonly proxy: RecordingProxy;
  readonly writer: Writer;
  readonly subject: SubjectProcess;
  readonly random: Random;
}

/** Options of {@link soakInformers}. */
export interface SoakOptions {
  readonly milliseconds: number;
  /** The same seed gives the same faults in the same order; what they meet is up to the machine. */
  readonly seed: number;
}

/**
 * Rounds of all faults in random order while objects are created, changed and deleted; after each round all is let come to
 * rest and compared with the server. Begins no round after the time, and plays at least one.
 *
 * @returns the exit code, not 0 when anything is not as it was
 */
export async function soakInformers({ milliseconds, seed }: SoakOptions): Promise<number> {
  const report = new Report();
  report.section(`Soak of ${milliseconds / 60_000} min with seed ${seed}`);
  await onHub(async (lab) => {
    const random = seededRandom(seed);
    const upstream = connectionTo(lab);
    const writer = new Writer(upstream, seededRandom(seed + 1));
    const proxy = await RecordingProxy.start({ upstream, token: randomBytes(16).toString('hex') });
    const subject: SubjectProcess = new OwnProcess(PROCESS);
    try {
      await play({ lab, proxy, writer, subject, random }, { milliseconds, seed }, report);
    } finally {
      await subject.close();
      await writer.close();
      await proxy.stop();
    }
  });
  return report.conclude();
}

async function play(stage: Stage, { milliseconds, seed }: SoakOptions, report: Report): Promise<void> {
  const { proxy, writer, subject } = stage;
  await writer.prepare();
  // Once there and back: what is loaded and compiled on the way is not to be taken for a leak.
  const start = { ask: 'start', connection: proxy.connection, token: proxy.token, seed } as const;
  await subject.ask(start);
  await subject.ask({ ask: 'stop' });
  const before = await resources(subject);
  await subject.ask(start);

  const deadline = systemClock.monotonic() + milliseconds;
  const rounds: Round[] = [];
  while (rounds.length === 0 || systemClock.monotonic() < deadline) {
    const round = await playRound(stage);
    rounds.push(round);
    report.note(describeRound(rounds.length, round));
    if (round.differences.length > 0) report.note(`after ${round.order.join(', ')}`);
    if (round.differences.length > 0) break;
  }

  const { state } = await subject.ask({ ask: 'state' });
  if (state === undefined) throw new Error('the subject has no state');
  const watches = await settledWatches(proxy, state.informers);
  await subject.ask({ ask: 'stop' });
  const after = await resources(subject);
  const connections = proxy.tcp.open;
  concludeSoak(
    { rounds, state, before, after, watches, connections, record: proxy.record, writes: writer.writes },
    report,
  );
}

/** Watches on connections that are half-open are there until it is noticed. */
async function settledWatches(proxy: RecordingProxy, expected: number): Promise<number> {
  const deadline = systemClock.monotonic() + CONVERGENCE_LIMIT;
  while (proxy.watches !== expected && systemClock.monotonic() < deadline)
    await systemClock.sleep(CONVERGENCE_INTERVAL);
  return proxy.watches;
}

async function playRound({ lab, proxy, writer, subject, random }: Stage): Promise<Round> {
  const noticed: number[] = [];
  const context: FaultContext = {
    lab,
    proxy,
    random,
    onNoticed: (milliseconds) => void noticed.push(milliseconds),
    tellToken: async (token) => void (await subject.ask({ ask: 'token', token })),
  };
  writer.goOn();
  await subject.ask({ ask: 'goOn' });
  const order = shuffled(random, Object.keys(faults));
  for (const name of order) {
    await systemClock.sleep(GAP.least + random() * GAP.range);
    await faults[name]?.(context);
  }
  await writer.rest();
  await subject.ask({ ask: 'rest' });
  return { order, noticed, ...(await converge(writer, subject)), resources: await resources(subject) };
}

/** Compares until all is equal, or for as long as it may take. */
async function converge(
  writer: Writer,
  subject: SubjectProcess,
): Promise<Pick<Round, 'convergence' | 'differences' | 'compared' | 'objects'>> {
  const started = systemClock.monotonic();
  for (;;) {
    const { state } = await subject.ask({ ask: 'state' });
    const held = state?.held ?? [];
    const truths = await Promise.all(held.map((one) => truthOf(writer, one)));
    const differences = held.flatMap((one, index) => differencesOf(one, truths[index] ?? {}));
    const convergence = systemClock.monotonic() - started;
    if (differences.length === 0 || convergence > CONVERGENCE_LIMIT) {
      const compared = held.reduce((sum, { views }) => sum + 1 + views.length, 0);
      return { convergence, differences, compared, objects: held.reduce((sum, { cache }) => sum + count(cache), 0) };
    }
    await systemClock.sleep(CONVERGENCE_INTERVAL);
  }
}

function truthOf(writer: Writer, { scope: { kind, scope } }: HeldState): Promise<Versions> {
  const { namespace, labelSelector, fieldSelector } = scope;
  return writer.list(pathOf(kind, namespace), {
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  });
}

function differencesOf({ name, cache, views }: HeldState, truth: Versions): string[] {
  return [
    ...compare(`cache of ${name}`, cache, truth),
    ...views.flatMap((view, index) => compare(`${index === 0 ? 'quick' : 'slow'} handler of ${name}`, view, truth)),
  ];
}

function compare(what: string, seen: Versions, truth: Versions): string[] {
  const keys = new Set([...Object.keys(seen), ...Object.keys(truth)]);
  const wrong = [...keys].filter((key) => seen[key] !== truth[key]);
  return wrong.map((key) => `${what}: ${key} is ${seen[key] ?? 'absent'}, at the server ${truth[key] ?? 'absent'}`);
}

async function resources(subject: SubjectProcess): Promise<Resources> {
  await systemClock.sleep(SETTLING);
  return (await subject.ask({ ask: 'resources' })).resources;
}

function describeRound(
  number: number,
  { convergence, compared, objects, resources: now, differences: wrong }: Round,
): string {
  const mebibytes = (now.heap / 1024 / 1024).toFixed(1);
  const outcome = wrong.length === 0 ? `${compared} caches and handlers equal` : `${wrong.length} DIFFERENCES`;
  return `round ${number}: ${outcome} after ${(convergence / 1000).toFixed(1)} s (${objects} objects), heap ${mebibytes} MiB`;
}

function count(versions: Versions): number {
  return Object.keys(versions).length;
}
