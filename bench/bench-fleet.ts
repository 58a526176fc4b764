import { readFile } from 'node:fs/promises';
import { systemClock } from '../src/kernel/index.ts';
import { Fleet } from '../test/installation/index.ts';
import type { Replica } from '../test/installation/index.ts';
import { auditEvents } from '../test/support/audit-log.ts';
import { eventually } from '../test/support/eventually.ts';
import type { LabDescription } from '../test/lab/index.ts';

const MEMBERS = { 'eu-1': { tier: 'prod' }, 'us-1': { tier: 'prod' }, 'ap-1': { tier: 'prod' } };
/** Atoll's service account, on the hub and in every member. */
const ATOLL = 'system:serviceaccount:atoll-system:atoll';

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

/** Atoll on a lab with its members joined and one replica or more, each ready. */
export async function startFleet(lab: LabDescription, replicas: readonly string[]): Promise<Fleet> {
  const fleet = new Fleet({ lab, team: 'bench', members: MEMBERS });
  await fleet.install({ 'apps/.gitkeep': '' });
  for (const name of fleet.members) await fleet.join(name);
  for (const name of replicas) await startReady(fleet, name);
  await eventually(
    async () => {
      const members = await Promise.all(fleet.members.map((name) => fleet.member(name)));
      const ready = members.map((member) => member?.status?.conditions?.find(({ type }) => type === 'Ready')?.status);
      return ready.every((status) => status === 'True');
    },
    { timeout: 120_000, message: 'not every member became Ready' },
  );
  return fleet;
}

/** Starts a replica and waits until it serves. */
export async function startReady(fleet: Fleet, name: string): Promise<Replica> {
  const replica = await fleet.startReplica(name);
  const ready = async (): Promise<boolean> => (await replica.page('readyz'))?.status === 200;
  await eventually(ready, { timeout: 60_000, message: `${name} is not ready` });
  return replica;
}

/** Waits until an object is ready in every member at its newest generation. */
export async function untilReady(fleet: Fleet, name: string): Promise<void> {
  await eventually(
    async () => {
      const object = await fleet.federated(name);
      const current = object?.status?.observedGeneration === object?.metadata.generation;
      return current && object?.status?.clusters?.ready === fleet.members.length;
    },
    { timeout: 120_000, message: `${name} did not become ready` },
  );
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

/** Mutating requests of Atoll, heartbeats aside, that all API servers answered since a time (RFC 3339). */
export async function writesSince(fleet: Fleet, start: string): Promise<readonly string[]> {
  const events = await Promise.all(['hub', ...fleet.members].map((name) => auditEvents(fleet.cluster(name))));
  return events
    .flat()
    .filter((event) => event.requestReceivedTimestamp >= start && event.user.username === ATOLL)
    .filter((event) => event.objectRef?.resource !== 'leases')
    .map(({ verb, requestURI }) => `${verb} ${requestURI}`);
}

/** The shards that each replica holds by its log, and when it gained the last of them. */
export function gains(replica: Replica): readonly { shard: string; time: number }[] {
  return replica.log
    .filter(({ msg }) => msg === 'shard gained')
    .map((line) => ({ shard: String(line['shard']), time: Date.parse(String(line['time'])) }));
}

/** Resident memory of a process, MiB. */
export async function residentMemory(replica: Replica): Promise<number> {
  const status = await readFile(`/proc/${replica.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** The middle, and the worst. */
export function summarize(values: readonly number[]): { p50: number; p95: number; worst: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), worst: at(1) };
}
