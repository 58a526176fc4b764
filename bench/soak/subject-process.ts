/**
 * The process that is soaked: a {@link Subject} alone, so that its sockets, timers and heap are of nothing else.
 *
 * @module
 */
import type { Connection } from '../../src/kubernetes/index.ts';
import { CountingClock } from '../../test/support/counting-clock.ts';
import { collectedHeap, measure } from '../own-process.ts';
import { CountingMetrics } from './counting-metrics.ts';
import { seededRandom } from './random.ts';
import { Subject } from './subject.ts';
import type { SubjectState } from './subject.ts';

/** What the subject is to do, or to say. */
export type SubjectQuestion =
  | { readonly ask: 'start'; readonly connection: Connection; readonly token: string; readonly seed: number }
  | { readonly ask: 'token'; readonly token: string }
  | { readonly ask: 'goOn' | 'rest' | 'state' | 'stop' | 'resources' };

/** What of the process's is in use. */
export interface Resources {
  /** Bytes, after everything that can go has gone. */
  readonly heap: number;
  /** Timers set through the clock that the rooms are given: where each was set. */
  readonly timers: readonly string[];
  /** As Node names them: sockets above all. */
  readonly handles: Readonly<Record<string, number>>;
}

export interface SubjectAnswer {
  readonly state?: SubjectState;
  readonly resources: Resources;
}

const clock = new CountingClock();
let token = '';
let subject: Subject | undefined;

measure(async (question: SubjectQuestion): Promise<SubjectAnswer> => {
  await obey(question);
  const state = question.ask === 'state' ? subject?.state() : undefined;
  return { ...(state && { state }), resources: resources(question.ask === 'resources') };
});

async function obey(question: SubjectQuestion): Promise<void> {
  if (question.ask === 'start') {
    ({ token } = question);
    const random = seededRandom(question.seed);
    const metrics = new CountingMetrics();
    subject = new Subject({ connection: question.connection, readToken: () => token, clock, random, metrics });
    await subject.start();
  } else if (question.ask === 'token') ({ token } = question);
  else if (question.ask === 'goOn') subject?.goOn();
  else if (question.ask === 'rest') await subject?.rest();
  else if (question.ask === 'stop') {
    await subject?.stop();
    subject = undefined;
  }
}

function resources(isCollecting: boolean): Resources {
  const handles: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) handles[name] = (handles[name] ?? 0) + 1;
  return {
    heap: isCollecting ? collectedHeap() : Number.NaN,
    timers: [...clock.timers].map(({ stack = '' }) => stack),
    handles,
  };
}
