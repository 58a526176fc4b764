import type { FederatedObject } from '../../src/api/index.ts';
import { Fleet, PATH } from '../installation/index.ts';
import { eventually, lab, uniqueName } from '../support/lab.ts';

/** Region and tier of the lab's members. */
const MEMBERS = {
  'eu-1': { region: 'eu', tier: 'prod' },
  'us-1': { region: 'us', tier: 'prod' },
  'ap-1': { region: 'ap', tier: 'staging' },
} as const;

/** Leases a fifth as long as the real ones, so that hand-overs do not fill the test's time. */
export const SHORT_LEASES = {
  ATOLL_LEASE_DURATION: '3s',
  ATOLL_LEASE_RENEW_DEADLINE: '2s',
  ATOLL_LEASE_RETRY_PERIOD: '400ms',
};

/** Atoll on the lab, with a tenant and Redis keys of this test file's own, every member joined. */
export async function installFleet(environment: Readonly<Record<string, string>>): Promise<Fleet> {
  const team = uniqueName('team');
  const fleet = new Fleet({
    lab: lab(),
    team,
    members: MEMBERS,
    environment: { ATOLL_REDIS_PREFIX: team, ...environment },
  });
  await fleet.install({ [`${PATH}/.gitkeep`]: '' });
  for (const name of fleet.members) await fleet.join(name);
  return fleet;
}

/** Ends a fleet with nothing of its tenant left on hub or members, then its members' registration. */
export async function removeFleet(fleet: Fleet): Promise<void> {
  if (!fleet.replicas.some(({ running }) => running)) await startReady(fleet, 'atoll-cleaner');
  await fleet.kubectl('hub', '-n', fleet.team, 'delete', 'gitsources', '--all', '--timeout=60s');
  await fleet.kubectl('hub', '-n', fleet.team, 'delete', 'federatedredisclusters', '--all', '--timeout=60s');
  await fleet.kubectl('hub', 'delete', 'memberclusters', ...fleet.members);
  await fleet.close();
}

/** Starts a replica and waits until it serves and its hub informers are synced. */
export async function startReady(
  fleet: Fleet,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): ReturnType<Fleet['startReplica']> {
  const replica = await fleet.startReplica(name, environment);
  await eventually(async () => (await replica.page('readyz'))?.status === 200, {
    timeout: 60_000,
    message: `${name} is not ready; its last line: ${JSON.stringify(replica.log.at(-1))}`,
  });
  return replica;
}

/** Waits until every member is Ready. */
export async function membersReady(fleet: Fleet): Promise<void> {
  await eventually(
    async () => {
      const members = await Promise.all(fleet.members.map((name) => fleet.member(name)));
      return members.every((member) =>
        member?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
      );
    },
    { timeout: 90_000, message: 'not every member became Ready' },
  );
}

/** Waits until an object is ready at its newest generation in exactly these clusters, and returns it. */
export async function readyIn(fleet: Fleet, name: string, clusters: readonly string[]): Promise<FederatedObject> {
  return eventually(
    async () => {
      const object = await fleet.federated(name);
      if (object === undefined) return undefined;
      const { status, metadata } = object;
      const rows = (status?.placements ?? []).map(({ cluster }) => cluster).join(' ');
      const current = status?.observedGeneration === metadata.generation;
      const ready = status?.clusters?.ready === clusters.length && rows === clusters.toSorted().join(' ');
      return current && ready ? object : undefined;
    },
    { timeout: 120_000, message: `${name} did not become ready in ${clusters.join(', ')}` },
  );
}

/** Waits until the tenant's source has applied a commit. */
export async function applied(fleet: Fleet, oid: string): Promise<void> {
  await eventually(async () => (await fleet.source())?.status?.appliedRevision === `main@sha1:${oid}`, {
    timeout: 60_000,
    message: `the source did not apply ${oid}`,
  });
}

/** The manifest of a FederatedRedisCluster; `spec` lines are indented by two. */
export function manifest(
  name: string,
  options: { readonly placement: string; readonly replicas?: number; readonly overrides?: string },
): string {
  return `apiVersion: federation.atoll.dev/v1
kind: FederatedRedisCluster
metadata: {name: ${name}}
spec:
  template:
    spec: {replicas: ${options.replicas ?? 1}, version: "8.2", resources: {limits: {memory: 256Mi}}}
  placement: ${options.placement}
${options.overrides === undefined ? '' : `  overrides: ${options.overrides}\n`}`;
}
