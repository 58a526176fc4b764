import type { ClusterName } from '../kernel/index.ts';
import type { SharedInformerFactory } from '../informers/index.ts';
import type { KubernetesClient } from '../kubernetes/index.ts';

/** A member that this replica works on: connected, identified, its informers synced. */
export interface Cluster {
  readonly name: ClusterName;
  readonly client: KubernetesClient;
  readonly informers: SharedInformerFactory;
  /** UID of the member's `kube-system` namespace: who the cluster is, whatever its address. */
  readonly uid: string;
}

/** What the rooms above hang onto a member while it is engaged. */
export interface Wiring {
  /** Looks at every key of the member again: after it became reachable, and when its shard was gained. */
  enqueueAll(): void;
  /** Takes handlers away again; the informers are stopped by their owner. */
  detach(): void;
}

/** Adds handlers to a member's informers before they start. */
export type Wire = (cluster: Cluster) => Wiring;
