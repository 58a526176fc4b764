import { readFile } from 'node:fs/promises';
import type { LabCluster } from '../lab/index.ts';

/** One mutating request, as the API server recorded it when it had answered. */
export interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: {
    readonly username: string;
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
}

/** Every mutating request that a cluster of the lab has answered so far, in order. */
export async function auditEvents(cluster: LabCluster): Promise<readonly AuditEvent[]> {
  if (cluster.auditLog === undefined) throw new Error(`the lab keeps no audit log of ${cluster.name}`);
  const text = await readFile(cluster.auditLog, 'utf8');
  // The last line may still be being written.
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  return complete
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent);
}
