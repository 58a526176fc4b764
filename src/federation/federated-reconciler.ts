import type { FederatedKind, FederatedObject, MemberCluster } from '../api/index.ts';
import { applyStatus, contentHash } from '../apply/index.ts';
import { OWNER_INDEX, addFinalizer, containsFinalizer, removeFinalizer } from '../controllers/index.ts';
import type { MutationCache } from '../controllers/index.ts';
import type { EventPort } from '../events/index.ts';
import type { Lister } from '../informers/index.ts';
import { AtollError, WaitingError, done, formatTime, objectKey, requeueAfter } from '../kernel/index.ts';
import type { Clock, ClusterName, Key, KubernetesObject, PolicyRule, Result } from '../kernel/index.ts';
import { AlreadyExistsError, writeAs } from '../kubernetes/index.ts';
import type { KubernetesClient } from '../kubernetes/index.ts';
import type { ReconcileContext } from '../workqueue/index.ts';
import { CASCADE_FINALIZER } from './cascade-finalizer.ts';
import { federatedEvents } from './federated-events.ts';
import { foldStatus } from './fold-status.ts';
import type { MemberState } from './fold-status.ts';
import { decidePlacement } from './placement.ts';
import type { PlacementCandidate, PlacementDecision } from './placement.ts';
import {
  CONTROLLER_REVISION,
  dataOf,
  expiredRevisions,
  isOfFormerObject,
  newRevision,
  numberOf,
  revisionData,
  revisionName,
} from './revisions.ts';
import type { StatusRow, StatusRows } from './status-rows.ts';
import { STATUS_MANAGER } from './triggers.ts';

/** What the hub's worker needs to decide about one kind of federated object. */
export interface FederatedReconcilerOptions {
  readonly kind: FederatedKind;
  readonly hub: KubernetesClient;
  readonly objects: MutationCache;
  readonly members: Lister;
  /** ControllerRevisions of federated objects, with the index {@link OWNER_INDEX}. */
  readonly revisions: MutationCache;
  readonly rows: StatusRows;
  readonly events: EventPort;
  readonly clock: Clock;
}

/**
 * The hub's side of a federated object: which revision it has, which clusters it is placed on, which of them shall
 * have what. It decides and records; what it records is applied by each member's own worker.
 */
export class FederatedReconciler {
  readonly #options: FederatedReconcilerOptions;

  constructor(options: FederatedReconcilerOptions) {
    this.#options = options;
  }

  /** Hub rights of every federated kind. */
  static rules(kinds: readonly FederatedKind[]): readonly PolicyRule[] {
    const plurals = kinds.map(({ federated }) => federated.plural);
    const federation = ['federation.atoll.dev'];
    return [
      { apiGroups: federation, resources: plurals, verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: federation, resources: plurals.map((plural) => `${plural}/status`), verbs: ['patch'] },
      {
        apiGroups: ['apps'],
        resources: ['controllerrevisions'],
        verbs: ['get', 'list', 'watch', 'create', 'delete'],
      },
    ];
  }

  /** fetch → deleted? → finalizer → revision → placement → status → old revisions. */
  async reconcile(key: Key, context: ReconcileContext): Promise<Result> {
    const object = this.#fetch(key);
    if (object === undefined) return done;
    if (object.metadata.deletionTimestamp !== undefined) return this.#withdraw(object, context);
    if (!containsFinalizer(object, CASCADE_FINALIZER)) return this.#adopt(object, context);
    const decisions = decidePlacement(object.spec.placement, this.#candidates());
    const revision = object.spec.suspend ? this.#recordedRevision(object) : await this.#ensureRevision(object, context);
    await this.#writeStatus(object, decisions, revision, context);
    await this.#expireRevisions(this.#newest(object), context);
    return done;
  }

  #fetch(key: Key): FederatedObject | undefined {
    return this.#options.objects.get(`${key.namespace}/${key.name}`) as FederatedObject | undefined;
  }

  /** The object with what was written to it meanwhile. */
  #newest(object: FederatedObject): FederatedObject {
    const newest = this.#options.objects.get(objectKey(object)) as FederatedObject | undefined;
    return newest !== undefined && newest.metadata.uid === object.metadata.uid ? newest : object;
  }

  /** The finalizer comes before anything is placed: what is placed must be withdrawn. Its event brings the key back. */
  async #adopt(object: FederatedObject, context: ReconcileContext): Promise<Result> {
    const updated = await addFinalizer(this.#options.hub, object, CASCADE_FINALIZER, writeAs('atoll', context));
    this.#options.objects.remember(updated);
    return requeueAfter(0);
  }

  /** Every recorded cluster is told to remove the object; when all have, the finalizer goes. */
  async #withdraw(object: FederatedObject, context: ReconcileContext): Promise<Result> {
    if (!containsFinalizer(object, CASCADE_FINALIZER)) return done;
    const left = await this.#writeStatus(object, [], '', context);
    if (left > 0) return done;
    await removeFinalizer(this.#options.hub, this.#newest(object), CASCADE_FINALIZER, writeAs('atoll', context));
    await this.#options.rows.drop(object.metadata.uid ?? '');
    return done;
  }

  #candidates(): PlacementCandidate[] {
    return this.#members()
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => ({ name: metadata.name ?? '', labels: metadata.labels ?? {} }));
  }

  #members(): readonly MemberCluster[] {
    return this.#options.members.list() as readonly MemberCluster[];
  }

  #recordedRevision(object: FederatedObject): string {
    return object.status?.updateRevision ?? '';
  }

  /** The name of the ControllerRevision of the object's present spec, which is created when it is missing. */
  async #ensureRevision(object: FederatedObject, context: ReconcileContext): Promise<string> {
    const name = revisionName(object);
    const own = this.#ownRevisions(object);
    if (own.some((revision) => revision.metadata.name === name)) return name;
    const number = Math.max(0, ...own.map((revision) => numberOf(revision))) + 1;
    try {
      const created = await this.#options.hub.create(newRevision(object, number), writeAs('atoll', context));
      this.#options.revisions.remember(created);
      const note = { type: 'Normal', reason: 'RevisionCreated', message: `created revision ${name}` } as const;
      this.#options.events.record(object, note);
    } catch (error) {
      if (!(error instanceof AlreadyExistsError)) throw error;
      await this.#judgeExisting(object, name, context);
    }
    return name;
  }

  /**
   * The informer was behind; or an object of the same name was deleted, and its revision, which the garbage collector
   * is about to delete, is in the way; or two contents share a hash, which must not pass for the same revision.
   * @throws WaitingError after a former object's revision was deleted
   */
  async #judgeExisting(object: FederatedObject, name: string, context: ReconcileContext): Promise<void> {
    const { namespace = '' } = object.metadata;
    const reference = { gvk: CONTROLLER_REVISION, namespace, name };
    const existing = await this.#options.hub.get(reference);
    if (existing !== undefined && isOfFormerObject(existing, object)) {
      await this.#options.hub.delete(reference, { uid: existing.metadata.uid ?? '' }, writeAs('atoll', context));
      throw new WaitingError(`ControllerRevision ${namespace}/${name} was a former object's and is created anew`);
    }
    const same = existing !== undefined && contentHash(dataOf(existing)) === contentHash(revisionData(object));
    if (!same) throw new AtollError(`ControllerRevision ${namespace}/${name} exists with other content`);
  }

  #ownRevisions(object: FederatedObject): readonly KubernetesObject[] {
    return this.#options.revisions.byIndex(OWNER_INDEX, object.metadata.uid ?? '');
  }

  /** @returns how many clusters have, or are to have, the object */
  async #writeStatus(
    object: FederatedObject,
    decisions: readonly PlacementDecision[],
    updateRevision: string,
    context: ReconcileContext,
  ): Promise<number> {
    const rows = await this.#readRows(object, decisions);
    const now = formatTime(this.#options.clock.now());
    const members = this.#memberStates();
    const status = foldStatus({ object, decisions, updateRevision, rows, members, now });
    const updated = await applyStatus(this.#options.hub, object, status, writeAs(STATUS_MANAGER, context));
    if (updated !== undefined) {
      this.#options.objects.remember(updated);
      const notes = federatedEvents(object.status, status, (cluster) => members.has(cluster));
      for (const note of notes) this.#options.events.record(object, note);
    }
    return status.placements?.length ?? 0;
  }

  /**
   * A cluster that gets the object (again) must not pass for rid of it later, nor for having it already, by what it
   * reported before: its MemberCluster may have been removed meanwhile, and name another cluster now.
   */
  async #readRows(
    object: FederatedObject,
    decisions: readonly PlacementDecision[],
  ): Promise<ReadonlyMap<ClusterName, StatusRow>> {
    const uid = object.metadata.uid ?? '';
    const rows = await this.#options.rows.read(uid);
    const placed = decisions.filter((decision) => decision.placed).map(({ cluster }) => cluster);
    const recorded = new Set((object.status?.placements ?? []).map(({ cluster }) => cluster));
    const outdated = placed.filter((cluster) => {
      const row = rows.get(cluster);
      return row !== undefined && (row.state === 'Removed' || !recorded.has(cluster));
    });
    await this.#options.rows.forget(uid, outdated);
    return new Map([...rows].filter(([cluster]) => !outdated.includes(cluster)));
  }

  #memberStates(): ReadonlyMap<ClusterName, MemberState> {
    return new Map(
      this.#members().map((member) => {
        const ready = member.status?.conditions?.find(({ type }) => type === 'Ready');
        return [member.metadata.name ?? '', { ready: ready?.status === 'True', reason: ready?.reason ?? 'NotEngaged' }];
      }),
    );
  }

  async #expireRevisions(object: FederatedObject, context: ReconcileContext): Promise<void> {
    const own = this.#ownRevisions(object);
    for (const revision of expiredRevisions(own, inUse(object), object.spec.revisionHistoryLimit)) {
      const { name = '', namespace = '', uid = '' } = revision.metadata;
      await this.#options.hub.delete({ gvk: CONTROLLER_REVISION, namespace, name }, { uid }, writeAs('atoll', context));
    }
  }
}

/** The revisions that a cluster has or is to get, as recorded. */
function inUse({ status }: FederatedObject): ReadonlySet<string> {
  const targets = (status?.placements ?? []).map((row) => row.targetRevision);
  return new Set([...targets, status?.currentRevision ?? '', status?.updateRevision ?? '']);
}
