import { formatMicroTime } from '../kernel/index.ts';
import type { Clock, GroupVersionKind, KubernetesObject, PolicyRule } from '../kernel/index.ts';
import { AlreadyExistsError, ConflictError, NotFoundError, writeAs } from '../kubernetes/index.ts';
import type { KubernetesClient, ObjectReference } from '../kubernetes/index.ts';
import { StaleEpochError } from './epoch-store.ts';
import type { EpochStore } from './epoch-store.ts';

/** Where a Lease carries the epoch: milliseconds do not fit `leaseTransitions`. */
const EPOCH_ANNOTATION = 'atoll.dev/epoch';

const LEASE: GroupVersionKind = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' };

/** The holder before may write its heartbeat in between, and again. */
const ATTEMPTS = 5;

/** What the store does on the hub, in Atoll's namespace. */
export const leaseRules: readonly PolicyRule[] = [
  { apiGroups: [LEASE.group], resources: ['leases'], verbs: ['get', 'create', 'update', 'delete'] },
];

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

/** What is to be recorded. */
interface Holding {
  readonly shard: string;
  readonly epoch: number;
  readonly replica: string;
}

/** What {@link LeaseEpochStore} needs. */
export interface LeaseEpochStoreOptions {
  /** The hub. */
  readonly client: KubernetesClient;
  /** Atoll's own. */
  readonly namespace: string;
  readonly clock: Clock;
  /** What the Lease says; after so long without a heartbeat, an onlooker may think that Atoll has stopped. */
  readonly leaseDurationSeconds: number;
}

/**
 * Epochs in one `coordination.k8s.io/v1` Lease per shard, "atoll-<shard>", written only over the version that was read:
 * etcd orders all epochs, whatever Redis says. The Leases also show who works which cluster, and since when nobody does.
 */
export class LeaseEpochStore implements EpochStore {
  readonly #options: LeaseEpochStoreOptions;
  /** Shard → the Lease as it was last written: spares the heartbeat a read. */
  readonly #written = new Map<string, KubernetesObject>();

  constructor(options: LeaseEpochStoreOptions) {
    this.#options = options;
  }

  async raise(shard: string, epoch: number, replica: string, guard: () => void): Promise<void> {
    this.#written.delete(shard);
    await this.#record({ shard, epoch, replica }, guard);
  }

  async heartbeat(shard: string, epoch: number, replica: string, guard: () => void): Promise<void> {
    await this.#record({ shard, epoch, replica }, guard);
  }

  async forget(shard: string, epoch: number, guard: () => void): Promise<void> {
    const { client } = this.#options;
    this.#written.delete(shard);
    const live = await client.get(this.#reference(shard));
    if (live === undefined || epochOf(live) > epoch) return;
    const { uid = '', resourceVersion = '' } = live.metadata;
    try {
      await client.delete(this.#reference(shard), { uid, resourceVersion }, writeAs('atoll', { guard }));
    } catch (error) {
      // Somebody has recorded a new tenure meanwhile: the shard is there again.
      if (!(error instanceof ConflictError)) throw error;
    }
  }

  async #record(holding: Holding, guard: () => void): Promise<void> {
    const { client } = this.#options;
    const write = writeAs('atoll', { guard });
    for (let attempt = 1; ; attempt += 1) {
      const live = this.#written.get(holding.shard) ?? (await client.get(this.#reference(holding.shard)));
      if (live !== undefined) assertNotStale(live, holding);
      const lease = this.#lease(live, holding);
      try {
        const written = await (live === undefined ? client.create(lease, write) : client.update(lease, write));
        this.#written.set(holding.shard, written);
        return;
      } catch (error) {
        this.#written.delete(holding.shard);
        if (attempt === ATTEMPTS || !isOutdated(error)) throw error;
      }
    }
  }

  #reference(shard: string): ObjectReference {
    return { gvk: LEASE, namespace: this.#options.namespace, name: `atoll-${shard}` };
  }

  #lease(live: KubernetesObject | undefined, { shard, epoch, replica }: Holding): KubernetesObject {
    const { namespace, clock, leaseDurationSeconds } = this.#options;
    const now = formatMicroTime(clock.now());
    const spec = specOf(live);
    const isNew = epochOf(live) !== epoch;
    return {
      ...live,
      apiVersion: `${LEASE.group}/${LEASE.version}`,
      kind: LEASE.kind,
      metadata: {
        ...live?.metadata,
        name: `atoll-${shard}`,
        namespace,
        labels: { ...live?.metadata.labels, 'app.kubernetes.io/managed-by': 'atoll' },
        annotations: { ...live?.metadata.annotations, [EPOCH_ANNOTATION]: String(epoch) },
      },
      spec: {
        ...spec,
        holderIdentity: replica,
        leaseDurationSeconds,
        acquireTime: isNew ? now : (spec.acquireTime ?? now),
        renewTime: now,
        leaseTransitions: (spec.leaseTransitions ?? 0) + (isNew && live !== undefined ? 1 : 0),
      },
    };
  }
}

function assertNotStale(live: KubernetesObject, { shard, epoch, replica }: Holding): void {
  const recorded = epochOf(live);
  const holder = specOf(live).holderIdentity;
  if (recorded < epoch || (recorded === epoch && holder === replica)) return;
  throw new StaleEpochError(
    `the hub records epoch ${recorded} of shard ${shard} for ${holder ?? 'nobody'}: ${epoch} of ${replica} is stale`,
    recorded,
  );
}

/** Whether what the write was made from is not what the hub has. */
function isOutdated(error: unknown): boolean {
  return error instanceof ConflictError || error instanceof AlreadyExistsError || error instanceof NotFoundError;
}

/** 0 when there is none, or what there is is no number: then the record is worth nothing. */
function epochOf(lease: KubernetesObject | undefined): number {
  const epoch = Number(lease?.metadata.annotations?.[EPOCH_ANNOTATION] ?? 0);
  return Number.isSafeInteger(epoch) ? epoch : 0;
}

function specOf(lease: KubernetesObject | undefined): LeaseSpec {
  return lease === undefined ? {} : (lease['spec'] as LeaseSpec);
}
