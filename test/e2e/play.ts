import { Fleet, PATH, startReady } from '../installation/index.ts';
import { lab, uniqueName } from '../support/lab.ts';

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
