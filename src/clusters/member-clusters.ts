import type { MemberCluster } from '../api/index.ts';
import { applyStatus } from '../apply/index.ts';
import type { EventPort } from '../events/index.ts';
import type { Lister } from '../informers/index.ts';
import { AtollError, done, formatTime, requeueAfter } from '../kernel/index.ts';
import type { ClusterName, Key, Result } from '../kernel/index.ts';
import { KubeconfigError, writeAs } from '../kubernetes/index.ts';
import type { KubernetesClient } from '../kubernetes/index.ts';
import type { ReconcileContext } from '../workqueue/index.ts';
import type { Cluster } from './cluster.ts';
import { connectionOf, readConnection } from './connection.ts';
import type { FoundConnection } from './connection.ts';
import { Engagement, IdentityChangedError } from './engagement.ts';
import type { EngagementOptions, SeenCluster } from './engagement.ts';
import { FencedOffError } from './fence.ts';
import { AlreadyMemberError, refuseSecondName } from './first-name.ts';
import { accountIn } from './member-account.ts';
import { memberClusterEvents } from './member-cluster-events.ts';
import { memberClusterStatus } from './member-cluster-status.ts';
import type { Observation } from './member-cluster-status.ts';
import { requestLimitsOf } from './request-limits.ts';

/** A member is called unreachable when nothing was heard from it for this long. */
const UNREACHABLE_AFTER = 30_000;
/** A member that failed a look is looked at again this soon. */
const RETRY_INTERVAL = 5000;

/**
 * After these a connection is not used any longer: it was taken away, leads to a cluster that is not this member's, or is another
 * replica's to use.
 */
const endings: readonly (new (...parameters: never[]) => Error)[] = [
  KubeconfigError,
  IdentityChangedError,
  AlreadyMemberError,
  FencedOffError,
];

/** What the registry works on. */
export interface MemberClustersOptions extends EngagementOptions {
  readonly hub: KubernetesClient;
  /** Where it is told that a member was engaged, lost, or is back. */
  readonly events: EventPort;
  /** MemberClusters, from the hub's informer. */
  readonly members: Lister;
  /** Secrets of Atoll's own namespace, from the hub's informer. */
  readonly secrets: Lister;
  readonly namespace: string;
  readonly replica: string;
  /** Time between two looks at a member that is well, milliseconds: three requests each. */
  readonly probeInterval: number;
  /** The epoch of this replica's tenure with a member's shard. @throws LeaseLostError when there is none */
  readonly epochOf: (name: ClusterName) => number;
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

  /**
   * The member, when this replica works on it and it was well at the last look. Keys of one that is not are not worth
   * a time-out each: all of them are looked at again when it is well.
   */
  engaged(name: ClusterName): Cluster | undefined {
    const entry = this.#entries.get(name);
    return entry === undefined || entry.failing ? undefined : entry.engagement?.cluster;
  }

  /** Looks at one member: engages it, probes it, says in its status how it is. */
  async reconcile(key: Key, context: ReconcileContext): Promise<Result> {
    const member = this.#member(key.name);
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
    if (entry !== undefined) await letGo(entry);
  }

  async #observe(member: MemberCluster, context: ReconcileContext): Promise<Observation> {
    const name = member.metadata.name ?? '';
    const entry = this.#entry(name);
    const { engagement: former } = entry;
    try {
      const { version, uid } = await this.#look(member, entry, context);
      entry.lastAnswer = this.#options.clock.monotonic();
      const isNews = entry.failing || entry.engagement !== former;
      if (isNews) this.#options.logger.info('member cluster is well', { cluster: name, version });
      entry.failing = false;
      if (isNews) entry.engagement?.wiring.enqueueAll();
      return { kind: 'ready', version, uid };
    } catch (error) {
      if (!entry.failing) this.#options.logger.warn('member cluster is not well', { cluster: name, error });
      entry.failing = true;
      if (endings.some((type) => error instanceof type)) await letGo(entry);
      return { kind: 'failed', error };
    }
  }

  /**
   * Asks a member that is engaged as it should be; gives one whose credentials changed the new ones; else engages it anew,
   * which brings back CRDs that were deleted.
   */
  async #look(member: MemberCluster, entry: Entry, context: ReconcileContext): Promise<SeenCluster> {
    const found = connectionOf(member, this.#options.secrets, this.#options.namespace);
    const { engagement } = entry;
    if (engagement?.isServed === true && engagement.canRenew(found)) {
      if (!engagement.isConnectedBy(found)) await this.#renew(engagement, entry, found);
      const seen = await engagement.look(context);
      this.#admit(member, seen);
      return seen;
    }
    await letGo(entry);
    return this.#engage(member, entry, found, context);
  }

  /** The informers live on with the former credentials should the new ones fail; nothing is written meanwhile. */
  async #renew(engagement: Engagement, entry: Entry, found: FoundConnection): Promise<void> {
    try {
      await engagement.renew(found);
    } catch (error) {
      // That the member answered under other credentials a moment ago excuses nothing.
      entry.lastAnswer = Number.NEGATIVE_INFINITY;
      throw error;
    }
  }

  async #engage(
    member: MemberCluster,
    entry: Entry,
    found: FoundConnection,
    context: ReconcileContext,
  ): Promise<SeenCluster> {
    const name = member.metadata.name ?? '';
    const engagement = await Engagement.open(
      {
        name,
        found,
        recordedUid: member.status?.uid,
        limits: () => requestLimitsOf(this.#member(name)),
        readAnew: () => readConnection(this.#member(name) ?? member, this.#options.hub, this.#options.namespace),
        installCrds: member.spec.installCRDs,
        admit: (seen) => this.#admit(member, seen),
        epoch: this.#options.epochOf(name),
        account: accountIn(this.#options.namespace),
        run: context,
      },
      this.#options,
    );
    if (this.#entries.get(name) !== entry) {
      await engagement.close();
      throw new AtollError(`${name} was let go while it was being engaged`);
    }
    entry.engagement = engagement;
    return engagement.seen;
  }

  #member(name: ClusterName): MemberCluster | undefined {
    return this.#options.members.get(name) as MemberCluster | undefined;
  }

  #admit(member: MemberCluster, { uid }: SeenCluster): void {
    refuseSecondName(member, uid, this.#options.members.list() as readonly MemberCluster[]);
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
    const { hub, events, replica, clock } = this.#options;
    const status = memberClusterStatus(member, observation, { replica, now: formatTime(clock.now()) });
    const updated = await applyStatus(hub, member, status, writeAs('atoll-status', context));
    if (updated === undefined) return;
    for (const note of memberClusterEvents(member.status, status)) events.record(member, note);
  }
}

/** Nobody finds the engagement any more before it is closed. */
async function letGo(entry: Entry): Promise<void> {
  const { engagement } = entry;
  entry.engagement = undefined;
  await engagement?.close();
}
