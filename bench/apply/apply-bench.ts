import { startLab } from '../../test/lab/index.ts';
import type { Lab } from '../../test/lab/index.ts';
import { BenchMember, NAMESPACE, configMap, countingClient, onAll, writeOf } from './bench-member.ts';
import { atMost } from '../report.ts';
import type { Report } from '../report.ts';
import { median } from '../statistics.ts';

const MEMBERS = ['m-1', 'm-2', 'm-3', 'm-4', 'm-5'];
/** For the update of everything: 1,000 member objects. */
const UPDATED = 200;
const DRIFTS = 20;

/**
 * Measures applies by watch, decision and one request, on five members, beside the least that anybody could do; a single
 * change among some hundred objects a member, and among the given number. Times are of this machine, which the API servers
 * share with the writer.
 */
export async function benchApply(report: Report, objects: number): Promise<void> {
  const progress = (line: string): void => console.log(`  ${line}`);
  const lab = await startLab({ members: MEMBERS, audit: false, workloads: false, progress });
  try {
    const members = MEMBERS.map((name) => new BenchMember(clusterOf(lab, name)));
    await Promise.all(members.map((member) => createNamespace(member)));
    await Promise.all(members.map((member) => member.start()));
    await benchUpdates(members, report);
    await benchDrift(lab, members[0] as BenchMember, report);
    for (const count of [UPDATED, objects]) await benchSingleChange(members, count, report);
    await Promise.all(members.map((member) => member.stop()));
  } finally {
    await lab.stop();
  }
}

function clusterOf(lab: Lab, name: string): Lab['hub'] {
  const cluster = lab.members[name];
  if (cluster === undefined) throw new Error(`the lab has no member ${name}`);
  return cluster;
}

async function createNamespace({ client }: BenchMember): Promise<void> {
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, writeOf('bench'));
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

/** Brings objects to a revision in every member. @returns what it took: milliseconds, milliseconds of CPU, requests */
async function bring(members: readonly BenchMember[], objects: readonly string[], revision: number): Promise<Taken> {
  return taking(members, async () => {
    for (const member of members) for (const name of objects) member.want(configMap(name, revision));
    await Promise.all(members.map((member) => member.idle()));
  });
}

interface Taken {
  readonly time: number;
  readonly cpu: number;
  readonly requests: number;
}

async function taking(members: readonly BenchMember[], run: () => Promise<unknown>): Promise<Taken> {
  const sent = (): number => members.reduce((sum, member) => sum + member.requests(), 0);
  const [started, before, cpu] = [performance.now(), sent(), process.cpuUsage()];
  await run();
  const { user, system } = process.cpuUsage(cpu);
  return { time: performance.now() - started, cpu: (user + system) / 1000, requests: sent() - before };
}

/** The least: one server-side apply each, as many at once, and nothing around it. */
async function bare(members: readonly BenchMember[], revision: number): Promise<Taken> {
  const write = writeOf('floor');
  return taking(members, () =>
    Promise.all(
      members.map(({ client }) =>
        onAll(names('floor', UPDATED), (name) => client.apply(configMap(name, revision), write, { force: true })),
      ),
    ),
  );
}

async function benchUpdates(members: readonly BenchMember[], report: Report): Promise<void> {
  report.section('Update of 1,000 member objects: 200 on each of five members');
  const objects = names('updated', UPDATED);
  await bare(members, 0);
  const created = await bring(members, objects, 0);
  await settle(members);
  const total = UPDATED * members.length;
  const floors: Taken[] = [];
  const ours: Taken[] = [];
  for (const revision of [1, 2, 3]) {
    floors.push(await bare(members, revision));
    await settle(members);
    ours.push(await bring(members, objects, revision));
    await settle(members);
  }
  const floor = median(floors.map(({ time }) => time));
  const own = median(ours.map(({ time }) => time));
  const cpu = median(ours.map((taken) => taken.cpu)) / total;
  const bareCpu = median(floors.map((taken) => taken.cpu)) / total;
  const share = floor / own;
  report.row('created', `${((total / created.time) * 1000).toFixed(0)} objects/s`);
  report.row('bare server-side apply of the same bodies', `${((total / floor) * 1000).toFixed(0)} objects/s`);
  report.row('updated', `${((total / own) * 1000).toFixed(0)} objects/s, ${(share * 100).toFixed(0)} % of bare`, {
    text: '≥ 70 %',
    holds: share >= 0.7,
  });
  const requests = Math.max(...ours.map((taken) => taken.requests));
  report.row('requests per updated object', (requests / total).toFixed(3), { text: '= 1', holds: requests === total });
  report.row(
    'own CPU per applied object',
    `${cpu.toFixed(2)} ms (bare ${bareCpu.toFixed(2)} ms)`,
    atMost(cpu, 2, ' ms'),
  );
}

/** Until the events of what was written have come and been looked at. */
async function settle(members: readonly BenchMember[]): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, 1000);
  });
  await Promise.all(members.map((member) => member.idle()));
}

async function benchDrift(lab: Lab, member: BenchMember, report: Report): Promise<void> {
  report.section('Drift: from the answer to a person to the watch event of the correction, as others see it');
  const { client } = countingClient(clusterOf(lab, MEMBERS[0] as string));
  const drift = (name: string, value: string): Promise<number> => correctionTime(client, name, value);
  const times: number[] = [];
  for (const name of names('updated', DRIFTS)) times.push(await drift(name, 'drifted'));
  report.row(`p50 of ${DRIFTS} objects`, `${median(times).toFixed(1)} ms`, atMost(median(times), 50, ' ms'));
  const thrice: number[] = [];
  for (let hit = 0; hit < 3; hit += 1) thrice.push(await drift('updated-100', 'the same'));
  const [first = Number.NaN, , third = Number.NaN] = thrice;
  const shown = thrice.map((time) => time.toFixed(1)).join(', ');
  report.row('one object three times in a row, by the same value', `${shown} ms`, {
    text: 'does not grow: third ≤ first + 50 ms',
    holds: third <= first + 50,
  });
  await client.close();
  await member.idle();
}

/** Changes an object as a person, and waits for the event that gives it back its value. @returns milliseconds */
async function correctionTime(client: BenchMember['client'], name: string, value: string): Promise<number> {
  const ref = { gvk: { group: '', version: 'v1', kind: 'ConfigMap' }, namespace: NAMESPACE, name };
  const live = await client.get(ref);
  if (live === undefined) throw new Error(`${name} is not there`);
  const data = live['data'] as Readonly<Record<string, string>>;
  const drifted = await client.update({ ...live, data: { ...data, revision: value } }, writeOf('kubectl-edit'));
  const started = performance.now();
  const stop = new AbortController();
  const { resourceVersion = '' } = drifted.metadata;
  const options = {
    namespace: NAMESPACE,
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    signal: stop.signal,
  };
  for await (const event of client.watch(ref.gvk, options)) {
    const revision = 'object' in event ? (event.object['data'] as typeof data | undefined)?.['revision'] : undefined;
    if (revision === data['revision']) break;
  }
  const ended = performance.now();
  stop.abort();
  return ended - started;
}

async function benchSingleChange(members: readonly BenchMember[], count: number, report: Report): Promise<void> {
  report.section(`One object changed among ${count}, on five members`);
  const objects = names(`of-${count}`, count);
  const created = await bring(members, objects, 0);
  await settle(members);
  report.row('created', `${(((count * members.length) / created.time) * 1000).toFixed(0)} objects/s`);
  const again = await taking(members, async () => {
    for (const member of members) for (const name of objects) member.look(`${NAMESPACE}/${name}`);
    await Promise.all(members.map((member) => member.idle()));
  });
  const cpu = again.cpu / (count * members.length);
  report.row('every object looked at again: requests', String(again.requests), atMost(again.requests, 0));
  report.row('own CPU per look', `${cpu.toFixed(3)} ms`);
  const changed = await bring(members, [objects[0] as string], 1);
  await settle(members);
  report.row('requests for the one change', String(changed.requests), {
    text: `= ${members.length}`,
    holds: changed.requests === members.length,
  });
  report.row('until all five have it', `${changed.time.toFixed(0)} ms`);
}
