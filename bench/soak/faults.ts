import { randomBytes } from 'node:crypto';
import { systemClock } from '../../src/kernel/index.ts';
import type { Random } from '../../src/kernel/index.ts';
import type { Lab } from '../../test/lab/index.ts';
import { statusAnswer } from '../../test/support/recording-proxy.ts';
import type { RecordingProxy } from '../../test/support/recording-proxy.ts';
import { eventually } from '../../test/support/eventually.ts';
import { ONCE } from './writer.ts';

/** What a fault needs. */
export interface FaultContext {
  readonly lab: Lab;
  readonly proxy: RecordingProxy;
  readonly random: Random;
  /** Hands the subject the token that will be valid. */
  readonly tellToken: (token: string) => Promise<void>;
  /** Is told how many milliseconds half-open connections were taken for live ones. */
  readonly onNoticed: (milliseconds: number) => void;
}

/** Does harm, and resolves when it is done: what comes of it may last. Notes in the proxy's record what really happened. */
export type Fault = (context: FaultContext) => Promise<void>;

/** The most that an event may be is 16 MiB. */
const OVERSIZED = 17 * 1024 * 1024;
const DRIP_BYTES = 4096;
const EXPIRED = statusAnswer(410, 'Expired', 'too old resource version: 1 (2)');
const API_SERVER = 'hub/kube-apiserver';

const between = (random: Random, least: number, most: number): number => least + random() * (most - least);
const times = (random: Random, most: number): number => 1 + Math.floor(random() * most);

/** By the names under which the record counts them. */
export const faults: Readonly<Record<string, Fault>> = {
  'connections reset': async ({ proxy }) => meet(proxy, 'connections reset', () => proxy.tcp.reset()),
  'connections half-open': async ({ proxy, random, onNoticed }) => {
    await meet(proxy, 'connections half-open', () => proxy.tcp.freeze());
    // Half of the time nothing else happens until the client itself has noticed.
    if (random() < 0.5) return;
    const started = systemClock.monotonic();
    const options = { timeout: 180_000, message: 'half-open connections were not noticed' };
    await eventually(() => proxy.tcp.frozen === 0, options);
    onNoticed(systemClock.monotonic() - started);
  },
  'connections refused': async ({ proxy, random }) => {
    proxy.tcp.refuse();
    proxy.note('connections refused');
    proxy.tcp.reset();
    await systemClock.sleep(between(random, 1000, 6000));
    await proxy.tcp.listen();
  },
  'bytes dripping': async ({ proxy, random }) => {
    const cancel = proxy.tcp.drip(DRIP_BYTES);
    proxy.endWatches();
    proxy.note('bytes dripping');
    await systemClock.sleep(between(random, 5000, 12_000));
    cancel();
  },
  GOAWAY: async ({ proxy }) => meet(proxy, 'GOAWAY', () => proxy.goAway()),
  'watches ended': async ({ proxy }) => meet(proxy, 'watches ended', () => proxy.endWatches()),
  '410 as an answer': async (context) => {
    context.proxy.answerNext('410 as an answer', EXPIRED, { count: times(context.random, 3), onlyWatches: true });
    context.proxy.endWatches();
    await happened(context);
  },
  '410 as an event': async (context) => {
    const line = Buffer.from(`{"type":"ERROR","object":${EXPIRED.body}}\n`);
    context.proxy.replaceNext('410 as an event', { line, isEnd: true }, { count: times(context.random, 3) });
    await happened(context);
  },
  '429 with Retry-After': async (context) => {
    const answer = { ...statusAnswer(429, 'TooManyRequests', 'slow down'), headers: { 'retry-after': '1' } };
    context.proxy.answerNext('429 with Retry-After', answer, { count: times(context.random, 8) });
    context.proxy.endWatches();
    await happened(context);
  },
  '500 without a Status': async (context) => {
    const answer = { status: 500, headers: { 'content-type': 'text/plain' }, body: 'etcdserver: request timed out\n' };
    context.proxy.answerNext('500 without a Status', answer, { count: times(context.random, 8) });
    context.proxy.endWatches();
    await happened(context);
  },
  // In the place of an event that nothing comes after: who merely skips it is wrong for the rest of the round.
  'malformed events': async (context) => {
    const line = Buffer.from('{"type":"MODIFIED","object":{"kind":"Conf\n');
    context.proxy.replaceNext(
      'malformed events',
      { line, isEnd: false },
      { count: times(context.random, 3), containing: ONCE },
    );
    await happened(context);
  },
  'oversized events': async (context) => {
    const line = Buffer.alloc(OVERSIZED, 'x');
    context.proxy.replaceNext('oversized events', { line, isEnd: false }, { containing: ONCE });
    await happened(context);
  },
  'tokens rotated': async ({ proxy, tellToken }) => {
    const token = randomBytes(16).toString('hex');
    await tellToken(token);
    proxy.token = token;
    proxy.note('tokens rotated');
    proxy.endWatches();
  },
  'API server restarts': async ({ lab, proxy, random }) => {
    await lab.services.act(random() < 0.5 ? 'kill' : 'stop', API_SERVER);
    await systemClock.sleep(between(random, 0, 5000));
    await lab.services.act('start', API_SERVER);
    proxy.note('API server restarts');
  },
};

/** Tries until there is something that it can happen to: the last fault may have left nothing. */
async function meet(proxy: RecordingProxy, name: string, attempt: () => number): Promise<void> {
  const met = await eventually(() => attempt() || undefined, {
    timeout: 120_000,
    message: `nothing was there for: ${name}`,
  });
  proxy.note(name, met);
}

/** Something that an armed fault waits for happens sooner or later, because the writer and the reader go on. */
async function happened({ proxy }: FaultContext): Promise<void> {
  await eventually(() => proxy.waiting === 0, { timeout: 120_000, message: 'a fault did not find its occasion' });
}
