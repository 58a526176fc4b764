import type { FederatedObject } from '../../src/api/index.ts';
import { eventually } from '../support/eventually.ts';
import type { Fleet } from './fleet.ts';
import type { Replica } from './replica.ts';

/** Starts a replica and waits until it serves and its hub informers are synced. */
export async function startReady(
  fleet: Fleet,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Replica> {
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

/** Waits until the team's source has applied a commit. */
export async function applied(fleet: Fleet, oid: string): Promise<void> {
  await eventually(async () => (await fleet.source())?.status?.appliedRevision === `main@sha1:${oid}`, {
    timeout: 60_000,
    message: `the source did not apply ${oid}`,
  });
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

/** Waits until the hub has no such object any more, and these clusters nothing of the team's. */
export async function removedFrom(fleet: Fleet, name: string, clusters: readonly string[]): Promise<void> {
  const timeout = 60_000;
  const gone = async (): Promise<boolean> => (await fleet.federated(name)) === undefined;
  await eventually(gone, { timeout, message: `${name} stays on the hub` });
  for (const cluster of clusters) await emptied(fleet, cluster);
}

/** Waits until a member has no objects of the team, and none of their children. */
export async function emptied(fleet: Fleet, cluster: string): Promise<void> {
  const kinds = ['RedisCluster', 'StatefulSet', 'Service'] as const;
  await eventually(
    async () => (await Promise.all(kinds.map((kind) => fleet.names(cluster, kind)))).flat().length === 0,
    { timeout: 60_000, message: `${cluster} keeps objects of ${fleet.team}` },
  );
}
