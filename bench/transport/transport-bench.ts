import type { Connection } from '../../src/kubernetes/index.ts';
import type { Lab } from '../../test/lab/index.ts';
import { TcpProxy } from '../../test/support/tcp-proxy.ts';
import { asBench, connectionTo, openClient } from '../hub.ts';
import { OwnProcess } from '../own-process.ts';
import { atMost } from '../report.ts';
import type { Report } from '../report.ts';
import { median } from '../statistics.ts';
import { OBJECT } from './contestants.ts';
import type { ContestantName } from './contestants.ts';
import type { Calls, Cost } from './requests-process.ts';

const PROCESS = new URL('requests-process.ts', import.meta.url);
const READS = 1000;
const WARM_UP = 500;
const ROUNDS = 7;
const PER_ROUND = 400;
const IN_FLIGHT = 16;

/** For each request in flight; a connection whose answer has just been read is not free before the next turn. */
const HANDSHAKE_BAR = 2;

/** What a call may cost beside a bare one: identity, deadline, budget, metrics, and an answer that is parsed and checked. */
const CPU_BAR = 1.6;

/** Handshakes and time beside client-node's; CPU per request beside a bare client's. */
export async function benchTransport(lab: Lab, report: Report): Promise<void> {
  const connection = connectionTo(lab);
  await prepare(connection);
  await compareReads(connection, report);
  for (const verb of ['read', 'apply'] as const) await compareCpu(connection, verb, report);
}

async function prepare(connection: Connection): Promise<void> {
  const client = openClient(connection);
  const { namespace } = OBJECT.metadata;
  await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, asBench);
  await client.apply(OBJECT, asBench);
  await client.close();
}

/** Both through a proxy that counts TLS's first messages, from a cold start: what a program that lives a minute sees. */
async function compareReads(connection: Connection, report: Report): Promise<void> {
  report.section(`${READS.toLocaleString('en')} reads of one ConfigMap, beside @kubernetes/client-node 2.0.1`);
  const rows: string[][] = [];
  for (const inFlight of [1, IN_FLIGHT]) {
    const [atoll, other] = [
      await countReads('atoll', connection, inFlight),
      await countReads('client-node', connection, inFlight),
    ];
    const ratio = (of: 'elapsed' | 'cpu'): string => `${(other[of] / atoll[of]).toFixed(1)}×`;
    rows.push(
      ['atoll', String(inFlight), String(atoll.handshakes), seconds(atoll.elapsed), seconds(atoll.cpu)],
      ['client-node', String(inFlight), String(other.handshakes), seconds(other.elapsed), seconds(other.cpu)],
      [
        '  client-node / atoll',
        '',
        `${(other.handshakes / atoll.handshakes).toFixed(0)}×`,
        ratio('elapsed'),
        ratio('cpu'),
      ],
    );
    report.row(
      `TLS handshakes, ${inFlight} in flight`,
      `${atoll.handshakes} (client-node ${other.handshakes})`,
      atMost(atoll.handshakes, HANDSHAKE_BAR * inFlight),
    );
    const share = atoll.elapsed / other.elapsed;
    report.row(`time, ${inFlight} in flight`, `${share.toFixed(2)}× client-node's`, atMost(share, 1, '×'));
  }
  report.table(['', 'in flight', 'handshakes', 'time', 'own CPU'], rows);
}

async function countReads(
  contestant: ContestantName,
  connection: Connection,
  inFlight: number,
): Promise<Cost & { readonly handshakes: number }> {
  const proxy = await TcpProxy.start(() => Number(new URL(connection.server).port));
  const own = new OwnProcess<Calls, Cost>(PROCESS);
  try {
    const through = { ...connection, server: `https://127.0.0.1:${proxy.port}` };
    const cost = await own.ask({ contestant, connection: through, verb: 'read', count: READS, inFlight });
    return { ...cost, handshakes: proxy.handshakes };
  } finally {
    await own.close();
    await proxy.stop();
  }
}

/** Rounds of all contestants in turn, each in a warm process of its own: what disturbs one disturbs all. */
async function compareCpu(connection: Connection, verb: Calls['verb'], report: Report): Promise<void> {
  const what = verb === 'read' ? 'GET' : 'server-side apply that changes nothing';
  report.section(`CPU per request, ${what}: ${ROUNDS} rounds of ${PER_ROUND} in turn, ${IN_FLIGHT} in flight`);
  const names: readonly ContestantName[] = ['undici', 'https', 'atoll', 'client-node'];
  const processes = names.map((contestant) => ({ contestant, own: new OwnProcess<Calls, Cost>(PROCESS) }));
  const costs = new Map<ContestantName, Cost[]>(names.map((name) => [name, []]));
  try {
    for (const { contestant, own } of processes) {
      await own.ask({ contestant, connection, verb, count: WARM_UP, inFlight: IN_FLIGHT });
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { contestant, own } of processes) {
        const cost = await own.ask({ contestant, connection, verb, count: PER_ROUND, inFlight: IN_FLIGHT });
        costs.get(contestant)?.push(cost);
      }
    }
  } finally {
    for (const { own } of processes) await own.close();
  }
  const cpu = (name: ContestantName): number => median((costs.get(name) ?? []).map((cost) => cost.cpu / PER_ROUND));
  const rate = (name: ContestantName): number =>
    median((costs.get(name) ?? []).map((cost) => (PER_ROUND / cost.elapsed) * 1000));
  report.table(
    ['', 'CPU ms/request', 'beside undici', 'requests/s'],
    names.map((name) => [
      name === 'undici' || name === 'https' ? `${name}, bare` : name,
      cpu(name).toFixed(2),
      `${(cpu(name) / cpu('undici')).toFixed(2)}×`,
      rate(name).toFixed(0),
    ]),
  );
  const ratio = cpu('atoll') / cpu('undici');
  report.row(`CPU per ${verb}`, `${ratio.toFixed(2)}× bare undici`, atMost(ratio, CPU_BAR, '×'));
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
