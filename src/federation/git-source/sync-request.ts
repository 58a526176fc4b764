import type { GitSource } from '../../api/index.ts';
import type { Clock } from '../../kernel/index.ts';
import type { KubernetesClient, WriteContext } from '../../kubernetes/index.ts';
import type { Manifest } from '../../manifests/index.ts';
import type { HubObjects } from './hub-objects.ts';
import type { Inventories } from './inventory.ts';

/** What one sync works with. */
export interface SyncOptions {
  readonly hub: KubernetesClient;
  readonly objects: HubObjects;
  readonly inventories: Inventories;
  readonly installation: string;
  readonly clock: Clock;
}

/** One fully read revision of one source. */
export interface SyncRequest {
  readonly source: GitSource;
  readonly revision: string;
  readonly manifests: readonly Manifest[];
  /** As Atoll itself, for the inventory; objects are written as the source's identity. */
  readonly write: WriteContext;
}
