import { apiVersionOf } from '../../src/kernel/index.ts';
import type { Connection } from '../../src/kubernetes/index.ts';
import { OwnProcess } from '../own-process.ts';
import { atMost } from '../report.ts';
import type { Report } from '../report.ts';
import { median } from '../statistics.ts';
import type { BenchKind } from './kinds.ts';
import { barePool, collectionOf } from './population.ts';
import type { PushAddress, PushQuestion, Recording } from './push-server-process.ts';
import type { WatchCost, WatchQuestion } from './watch-process.ts';

const SERVER = new URL('push-server-process.ts', import.meta.url);
const WATCHER = new URL('watch-process.ts', import.meta.url);
const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** So many objects change in turn. */
const RECORDED = 1000;
const WARM_UP = 10_000;
const ROUNDS = 7;
const PER_ROUND = 20_000;

/**
 * What an event may cost beside a line that is only parsed: HTTP/2, checks, transform, store, a handler. Some 12 µs that do not
 * depend on the object's size, which is 1.5 times the parsing of a ConfigMap of 1.7 KB.
 */
const CPU_BAR = 3;

/** Changes that an informer takes a second and core, beside what lines and `JSON.parse` take, in turn. */
export async function benchWatch(connection: Connection, kind: BenchKind, report: Report): Promise<void> {
  const recording = await record(connection, kind);
  const bytes = recording.objects.reduce((sum, text) => sum + text.length, 0) / recording.objects.length;
  const server = new OwnProcess<PushQuestion, PushAddress>(SERVER);
  const names = ['lines', 'informer'] as const;
  const watchers = names.map((by) => ({ by, own: new OwnProcess<WatchQuestion, WatchCost>(WATCHER) }));
  const costs = new Map<string, WatchCost[]>(names.map((by) => [by, []]));
  try {
    const address = await server.ask({ recording });
    const { group, version, kind: name } = kind;
    for (const { by, own } of watchers) {
      await own.ask({ ...address, by, gvk: { group, version, kind: name }, collection: recording.collection });
      await count(server, own, WARM_UP);
      for (let round = 0; round < ROUNDS; round += 1) costs.get(by)?.push(await count(server, own, PER_ROUND));
      await own.close();
    }
  } finally {
    for (const { own } of watchers) await own.close();
    await server.close();
  }
  const middle = (by: string, of: keyof WatchCost): number => median((costs.get(by) ?? []).map((cost) => cost[of]));
  report.section(
    `Watch events of ${kind.kind}s (${bytes.toFixed(0)} bytes each, recorded, replayed over TLS): ${ROUNDS} × ${PER_ROUND.toLocaleString('en')}`,
  );
  report.table(
    ['', 'CPU µs/event', 'events per second and core', 'events/s'],
    names.map((by) => [
      by === 'lines' ? 'lines and JSON.parse' : 'informer with a handler',
      ((middle(by, 'cpu') / PER_ROUND) * 1000).toFixed(1),
      rate(middle(by, 'cpu')),
      rate(middle(by, 'elapsed')),
    ]),
  );
  const ratio = middle('informer', 'cpu') / middle('lines', 'cpu');
  report.row(
    `CPU per event of ${kind.kind}s`,
    `${ratio.toFixed(2)}× lines and JSON.parse`,
    atMost(ratio, CPU_BAR, '×'),
  );
}

async function count(
  server: OwnProcess<PushQuestion, PushAddress>,
  watcher: OwnProcess<WatchQuestion, WatchCost>,
  events: number,
): Promise<WatchCost> {
  const [cost] = await Promise.all([watcher.ask({ count: events }), server.ask({ push: events })]);
  return cost;
}

/** What the real API server says of the kind: the bytes of discovery, and of objects as a watch sends them. */
async function record(connection: Connection, kind: BenchKind): Promise<Recording> {
  const pool = barePool(connection);
  const get = async (path: string, accept: string): Promise<string> => {
    const answer = await pool.request({ method: 'GET', path, headers: { accept } });
    return answer.body.text();
  };
  try {
    const discovery = { '/api': await get('/api', DISCOVERY), '/apis': await get('/apis', DISCOVERY) };
    const list = await get(`${collectionOf(kind)}?limit=${RECORDED}`, 'application/json');
    const { items } = JSON.parse(list) as { items: readonly object[] };
    const apiVersion = apiVersionOf(kind);
    const objects = items.map((item) => JSON.stringify({ kind: kind.kind, apiVersion, ...item }));
    const prefix = kind.group === '' ? '/api' : '/apis';
    return { discovery, collection: `${prefix}/${apiVersion}/${kind.plural}`, apiVersion, kind: kind.kind, objects };
  } finally {
    await pool.destroy();
  }
}

function rate(milliseconds: number): string {
  return Math.round((PER_ROUND / milliseconds) * 1000).toLocaleString('en');
}
