import { readFile } from 'node:fs/promises';
import { systemClock } from '../../src/kernel/index.ts';
import { Fleet, membersReady, startReady } from '../../test/installation/index.ts';
import type { Replica } from '../../test/installation/index.ts';
import { startLab } from '../../test/lab/index.ts';

const MEMBERS = { 'eu-1': { tier: 'prod' }, 'us-1': { tier: 'prod' }, 'ap-1': { tier: 'prod' } };

/** The manifest of one object placed on every member; `marker` makes its commits tell apart. */
export function manifest(name: string, marker: string): string {
  return `apiVersion: federation.atoll.dev/v1
kind: FederatedRedisCluster
metadata: {name: ${name}}
spec:
  template: {spec: {replicas: 1, version: "8.2", config: {latency-monitor-threshold: "${marker}"}}}
  placement: {selector: {matchLabels: {tier: prod}}}
`;
}

/** Plays on a lab of its own with Atoll on it: every member joined and Ready, replicas of these names. */
export async function onFleet<T>(replicas: readonly string[], play: (fleet: Fleet) => Promise<T>): Promise<T> {
  const progress = (line: string): void => console.log(`  ${line}`);
  const lab = await startLab({ members: Object.keys(MEMBERS), audit: true, workloads: true, progress });
  const fleet = new Fleet({ lab, team: 'bench', members: MEMBERS });
  try {
    await fleet.install({ 'apps/.gitkeep': '' });
    for (const name of fleet.members) await fleet.join(name);
    for (const name of replicas) await startReady(fleet, name);
    await membersReady(fleet);
    return await play(fleet);
  } finally {
    await fleet.close();
    await lab.stop();
  }
}

/** Commits a marker and watches every member for it. @returns milliseconds from the commit to the last member's event */
export async function commitToLastMember(fleet: Fleet, name: string, marker: string): Promise<number> {
  const stopping = new AbortController();
  const watches = await Promise.all(fleet.members.map((member) => watchMarker(fleet, member, marker, stopping.signal)));
  await fleet.repository.commit({ [`apps/${name}.yaml`]: manifest(name, marker) }, `Set ${marker}`);
  const started = systemClock.monotonic();
  await fleet.requestSync();
  await Promise.all(watches.map(({ seen }) => seen));
  const last = systemClock.monotonic() - started;
  stopping.abort();
  return last;
}

/** Begins a watch; `seen` resolves with the first event that bears the marker. */
async function watchMarker(
  fleet: Fleet,
  member: string,
  marker: string,
  signal: AbortSignal,
): Promise<{ readonly seen: Promise<void> }> {
  const gvk = { group: 'workloads.atoll.dev', version: 'v1', kind: 'RedisCluster' };
  const { resourceVersion } = await fleet.client(member).list(gvk, { namespace: fleet.team });
  const events = fleet
    .client(member)
    .watch(gvk, { namespace: fleet.team, resourceVersion, timeoutSeconds: 60, signal });
  const watch = async (): Promise<void> => {
    for await (const event of events) if (markerOf(event.object) === marker) return;
    throw new Error(`${marker} did not reach ${member}`);
  };
  return { seen: watch() };
}

function markerOf(object: { readonly [field: string]: unknown } | undefined): string | undefined {
  return (object?.['spec'] as { config?: Record<string, string> } | undefined)?.config?.['latency-monitor-threshold'];
}

/** Resident memory of a process, MiB. */
export async function residentMemory(replica: Replica): Promise<number> {
  const status = await readFile(`/proc/${replica.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}
