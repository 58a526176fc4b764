import type { MemberCluster } from '../api/index.ts';
import { applyStatus } from '../apply/index.ts';
import type { Lister } from '../informers/index.ts';
import { done, formatTime, requeueAfter } from '../kernel/index.ts';
import type { ClusterName, Key, Result } from '../kernel/index.ts';
import type { KubernetesClient, WriteContext } from '../kubernetes/index.ts';
import type { Shards } from '../leadership/index.ts';
import type { ReconcileContext } from '../workqueue/index.ts';
import type { Cluster } from './cluster.ts';
import { connectionOf } from './connection.ts';
import { Engagement } from './engagement.ts';
import type { EngagementOptions } from './engagement.ts';
import { memberClusterStatus } from './member-cluster-status.ts';
import type { Observation } from './member-cluster-status.ts';

/** A member is called unreachable when nothing was heard from it for this long. */
const UNREACHABLE_AFTER = 30_000;
/** A member that failed a look is looked at again this soon. */
const RETRY_INTERVAL = 5000;

/** What the registry works on. */
export interface MemberClustersOptions extends EngagementOptions {
  readonly hub: KubernetesClient;
  /** MemberClusters, from the hub's informer. */
  readonly members: Lister;
  /** Secrets of Atoll's own namespace, from the hub's informer. */
  readonly secrets: Lister;
  readonly namespace: string;
  readonly shards: Shards;
  readonly replica: string;
  /** Time between two looks at a member that is well, milliseconds: one request each. */
  readonly probeInterval: number;
}

/** One member as this replica knows it. */
interface Entry {
  engagement?: Engagement | undefined;
  /** Monotonic time of the last answer. */
  lastAnswer: number;
  failing: boolean;
}

/** The reconciler of MemberCluster, and with it the registry of the members that this replica is engaged with. */
export class MemberClusters {
  readonly #options: MemberClustersOptions;
  readonly #entries = new Map<ClusterName, Entry>();

  constructor(options: MemberClustersOptions) {
    this.#options = options;
  }

  /** The member, when this replica works on it and it is connected. */
  engaged(name: ClusterName): Cluster | undefined {
    return this.#entries.get(name)?.engagement?.cluster;
  }

  /** Looks at one member: engages it, probes it, says in its status how it is. */
  async reconcile(key: Key, context: ReconcileContext): Promise<Result> {
    const member = this.#options.members.get(key.name) as MemberCluster | undefined;
    if (member === undefined || member.metadata.deletionTimestamp !== undefined) {
      await this.disengage(key.name);
      return done;
    }
    const observation = await this.#observe(member, context);
    if (observation.kind === 'failed' && this.#isBrief(key.name)) return requeueAfter(RETRY_INTERVAL);
    await this.#writeStatus(member, observation, context);
    return requeueAfter(observation.kind === 'ready' ? this.#options.probeInterval : RETRY_INTERVAL);
  }

  /** Lets go of a member: its shard went to another replica, or it is no member any more. */
  async disengage(name: ClusterName): Promise<void> {
    const entry = this.#entries.get(name);
    this.#entries.delete(name);
    await entry?.engagement?.close();
  }

  async #observe(member: MemberCluster, context: ReconcileContext): Promise<Observation> {
    const name = member.metadata.name ?? '';
    const entry = this.#entry(name);
    try {
      const { version, uid } = await this.#look(member, entry, context);
      entry.lastAnswer = this.#options.clock.monotonic();
      if (entry.failing) entry.engagement?.wiring.enqueueAll();
      entry.failing = false;
      return { kind: 'ready', version, uid };
    } catch (error) {
      entry.failing = true;
      this.#options.logger.warn('member cluster is not well', { cluster: name, error });
      return { kind: 'failed', error };
    }
  }

  /** One request to a member that is engaged with the credentials it should be; else a new engagement. */
  async #look(member: MemberCluster, entry: Entry, context: ReconcileContext): Promise<Cluster> {
    const name = member.metadata.name ?? '';
    const found = connectionOf(member, this.#options.secrets, this.#options.namespace);
    if (entry.engagement?.fingerprint === found.fingerprint) {
      await entry.engagement.cluster.client.version();
      return entry.engagement.cluster;
    }
    await entry.engagement?.close();
    entry.engagement = undefined;
    const engagement = await Engagement.open(
      {
        name,
        found,
        recordedUid: member.status?.uid,
        installCrds: member.spec.installCRDs,
        write: this.#write('atoll-crds', context),
      },
      this.#options,
    );
    if (this.#entries.get(name) !== entry) {
      await engagement.close();
      throw new Error(`${name} was let go while it was being engaged`);
    }
    entry.engagement = engagement;
    engagement.wiring.enqueueAll();
    return engagement.cluster;
  }

  #entry(name: ClusterName): Entry {
    const known = this.#entries.get(name);
    if (known !== undefined) return known;
    const entry: Entry = { lastAnswer: Number.NEGATIVE_INFINITY, failing: false };
    this.#entries.set(name, entry);
    return entry;
  }

  /** A failure that is too young to be shown: the member answered within the last 30 s. */
  #isBrief(name: ClusterName): boolean {
    const entry = this.#entries.get(name);
    if (entry?.engagement === undefined) return false;
    return this.#options.clock.monotonic() - entry.lastAnswer < UNREACHABLE_AFTER;
  }

  async #writeStatus(member: MemberCluster, observation: Observation, context: ReconcileContext): Promise<void> {
    const { hub, shards, replica, clock } = this.#options;
    const status = memberClusterStatus(member, observation, {
      replica,
      epoch: shards.epoch(member.metadata.name ?? '') ?? 0,
      now: formatTime(clock.now()),
    });
    await applyStatus(hub, member, status, this.#write('atoll-status', context));
  }

  #write(fieldManager: string, context: ReconcileContext): WriteContext {
    return { identity: { kind: 'self' }, fieldManager, guard: context.guard, signal: context.signal };
  }
}
