import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import { contentHash, hashOfText } from './canonical-json.ts';
import { appliedHash } from './desired-object.ts';
import { applyEntry, projectionOf } from './managed-fields.ts';
import { fieldsText } from './reduced-managed-fields.ts';

/**
 * What decides about an object, in two hashes: who owns what (every entry of `managedFields`, without times), and the live
 * values of what we own. While both stay the same, whatever else changed (status, others' fields) is none of our business.
 */
export function ownershipDigest(live: KubernetesObject, fieldManager: string): string {
  const entries = live.metadata.managedFields ?? [];
  const owners = hashOfText(entries.map((entry) => `${ownerOf(entry)} ${fieldsText(entry)}`).join('\n'));
  const ours = applyEntry(live, fieldManager)?.fieldsV1;
  const values = ours === undefined ? '' : contentHash(projectionOf(live, ours));
  return `${live.metadata.uid} ${owners} ${values} ${appliedHash(live)} ${live.metadata.deletionTimestamp}`;
}

/**
 * What an API server's answer to an apply depends on: everything but the status. Written in times, because a change of
 * a value shows in nothing else where a kind has no generation.
 */
export function decisiveDigest(live: KubernetesObject | undefined): string {
  if (live === undefined) return '';
  const { uid, generation, managedFields = [] } = live.metadata;
  const writes = managedFields
    .filter(({ subresource }) => subresource !== 'status')
    .map((entry) => `${ownerOf(entry)} ${entry.time} ${fieldsText(entry)}`);
  return `${uid} ${generation} ${hashOfText(writes.join('\n'))}`;
}

function ownerOf({ manager, operation, subresource, apiVersion }: ManagedFieldsEntry): string {
  return `${manager} ${operation} ${subresource} ${apiVersion}`;
}
