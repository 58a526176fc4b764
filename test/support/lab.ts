import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { KubernetesClient, WriteContext } from '../../src/kubernetes/index.ts';
import { GitRepository, type LabCluster, LabControl, type LabDescription } from '../lab/index.ts';
import { openAdmin } from './admin-client.ts';
import './lab-setup.ts';

export { eventually, type EventuallyOptions } from './eventually.ts';
export { type AuditEvent, auditEvents } from './audit-log.ts';

/** The lab that all component and end-to-end tests share. Tests keep apart by namespaces and repositories of their own. */
export function lab(): LabDescription {
  return inject('lab');
}

/** Stops, freezes and starts the lab's services. A test that uses it puts everything back as it was. */
export function labControl(): LabControl {
  return new LabControl(lab().control);
}

/** A cluster of the lab by name: `hub` or one of the members. */
export function labCluster(name: string): LabCluster {
  const cluster = name === 'hub' ? lab().hub : lab().members[name];
  if (cluster === undefined) throw new Error(`the lab has no cluster ${name}`);
  return cluster;
}

/** What tests write as: the cluster's administrator, under a field manager that is none of Atoll's. */
export const asTester: WriteContext = { identity: { kind: 'self' }, fieldManager: 'test', guard: () => undefined };

/** A client of a cluster of the lab, with all rights. One connection pool per cluster and test file. */
export function adminClient(cluster: string): KubernetesClient {
  const existing = adminClients.get(cluster);
  if (existing !== undefined) return existing;
  const client = openAdmin(labCluster(cluster));
  adminClients.set(cluster, client);
  return client;
}

const adminClients = new Map<string, KubernetesClient>();

/** Creates a namespace of a name that no other test has, and returns that name. */
export async function createNamespace(cluster: string): Promise<string> {
  const name = uniqueName('test');
  await adminClient(cluster).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, asTester);
  return name;
}

/** A new repository of the lab's Git server, of a name that no other test has. */
export async function createRepository(): Promise<GitRepository> {
  return GitRepository.create(lab().git, uniqueName('test'));
}

export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}
