import type { FederatedKind, FederatedObject, MemberCluster, PlacementRow } from '../api/index.ts';
import { ownRules, withChildRules } from '../apply/index.ts';
import type { Applier, ApplierRequest, ApplyOutcome, OwnerMark } from '../apply/index.ts';
import type { MutationCache } from '../controllers/index.ts';
import type { Lister } from '../informers/index.ts';
import { TerminalError, WaitingError, done, kindName, objectKey, requeueAfter } from '../kernel/index.ts';
import type { Key, KubernetesObject, PolicyRule, Result } from '../kernel/index.ts';
import { NotFoundError, referenceTo, writeAs } from '../kubernetes/index.ts';
import type { KubernetesClient } from '../kubernetes/index.ts';
import type { ReconcileContext } from '../workqueue/index.ts';
import { MemberNamespaces } from './member-namespaces.ts';
import { reportOf, reportOfError } from './propagation-report.ts';
import { renderMemberObject } from './render.ts';
import { CONTROLLER_REVISION, dataOf } from './revisions.ts';
import type { RevisionData } from './revisions.ts';
import type { StatusRow } from './status-rows.ts';
import { tenantIdentity } from './tenant-identity.ts';

/** How long a foreground deletion is given before the object is looked at again without an event. */
const DELETION_CHECK = 5000;

/** How it is told that a cluster is done with a withdrawal. */
const REMOVED = { gone: 'Removed', foreign: 'NotOurs', orphaned: 'Orphaned' } as const;

/** What one member's worker needs to bring one kind of federated object into its cluster. */
export interface PropagationOptions {
  readonly kind: FederatedKind;
  /** The member's. */
  readonly client: KubernetesClient;
  /** The member's. */
  readonly applier: Applier;
  /** The member's objects of the target kind. */
  readonly live: MutationCache;
  readonly hub: KubernetesClient;
  /** Federated objects, from the hub's informer. */
  readonly objects: Lister;
  /** MemberClusters, from the hub's informer. */
  readonly members: Lister;
  /** ControllerRevisions, from the hub's informer. */
  readonly revisions: Lister;
  readonly installation: string;
  /** Leaves a report for the hub's worker. */
  readonly report: (object: FederatedObject, row: StatusRow) => Promise<void>;
}

/**
 * A member's side of a federated object of any kind: the cluster gets exactly the revision that the hub recorded for
 * it, or is rid of the object when the hub recorded that. It never looks at the live spec, and knows no kind by name.
 */
export class PropagationReconciler {
  readonly #options: PropagationOptions;
  readonly #namespaces: MemberNamespaces;

  constructor(options: PropagationOptions) {
    this.#options = options;
    this.#namespaces = new MemberNamespaces(options.client);
  }

  /** What a namespace of a member grants for the objects that name a service account: acting as it. */
  static readonly tenantRules: readonly PolicyRule[] = [
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] },
  ];

  /** Rights in a member for these kinds. */
  static rules(kinds: readonly FederatedKind[]): readonly PolicyRule[] {
    return kinds.map(({ target }) => ({
      apiGroups: [target.gvk.group],
      resources: [target.plural],
      verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    }));
  }

  /** fetch → recorded for this cluster? → suspended? → withdraw, or apply the recorded revision → report. */
  async reconcile(key: Key, context: ReconcileContext): Promise<Result> {
    const object = this.#options.objects.get(`${key.namespace}/${key.name}`) as FederatedObject | undefined;
    const row = object?.status?.placements?.find(({ cluster }) => cluster === key.cluster);
    if (object === undefined || row === undefined || isSuspended(object)) return done;
    try {
      if (row.targetRevision === '') return await this.#withdraw(object, context);
      return await this.#propagate(object, row, context);
    } catch (error) {
      return this.#fail(object, row.targetRevision, error, context);
    }
  }

  /** A failure that stays is shown; it waits for a change, or for a time when its cause can go without an event. */
  async #fail(object: FederatedObject, target: string, error: unknown, context: ReconcileContext): Promise<Result> {
    const failure = reportOfError(error, target);
    if (failure === undefined) throw error;
    await this.#report(object, failure.row, context);
    if (failure.retryAfter !== undefined) return requeueAfter(failure.retryAfter);
    throw new TerminalError(failure.row.message, { cause: error });
  }

  async #propagate(object: FederatedObject, row: PlacementRow, context: ReconcileContext): Promise<Result> {
    const data = await this.#revision(object, row.targetRevision);
    const member = this.#options.members.get(row.cluster) as MemberCluster | undefined;
    const candidate = { name: row.cluster, labels: member?.metadata.labels ?? {} };
    const rendered = renderMemberObject(this.#options.kind, object, { name: row.targetRevision, data }, candidate);
    const outcome = await this.#apply(object, rendered, context);
    if ('object' in outcome) this.#options.live.remember(outcome.object);
    await this.#report(object, reportOf(outcome, row.targetRevision), context);
    return done;
  }

  /** One apply; when the namespace is missing it is created first. Nothing is sent when the object is in sync. */
  async #apply(object: FederatedObject, desired: KubernetesObject, context: ReconcileContext): Promise<ApplyOutcome> {
    const input = {
      desired: withChildRules(desired, object.spec.policy?.ignore ?? []),
      live: this.#options.live.get(objectKey(object)),
      owner: this.#mark(object),
      ...applyPolicy(object, desired),
      write: writeAs('atoll', context, tenantIdentity(object)),
    };
    try {
      return await this.#options.applier.apply(input);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      const created = await this.#namespaces.ensure(object.metadata.namespace ?? '', writeAs('atoll', context));
      if (!created) throw error;
      return this.#options.applier.apply(input);
    }
  }

  /** Foreground deletion of what bears our mark; done when it is gone, which its deletion event tells. */
  async #withdraw(object: FederatedObject, context: ReconcileContext): Promise<Result> {
    const deletion = object.spec.policy?.deletion;
    if (deletion?.policy === 'Orphan') return this.#removed(object, 'Orphaned', context);
    const outcome = await this.#options.applier.remove({
      ref: referenceTo(this.#options.kind.target.gvk, object.metadata.namespace, object.metadata.name),
      owner: this.#mark(object),
      adopted: deletion?.adopted ?? 'Orphan',
      live: this.#options.live.get(objectKey(object)),
      write: writeAs('atoll', context, tenantIdentity(object)),
      propagationPolicy: 'Foreground',
    });
    if (outcome !== 'deleting') return this.#removed(object, REMOVED[outcome], context);
    await this.#report(object, { targetRevision: '', state: 'OutOfDate', reason: 'Deleting', message: '' }, context);
    return requeueAfter(DELETION_CHECK);
  }

  async #removed(object: FederatedObject, reason: string, context: ReconcileContext): Promise<Result> {
    await this.#report(object, { targetRevision: '', state: 'Removed', reason, message: '' }, context);
    return done;
  }

  /** What a former owner of the shard saw is not worth telling. */
  async #report(object: FederatedObject, row: StatusRow, { guard }: ReconcileContext): Promise<void> {
    guard();
    await this.#options.report(object, row);
  }

  /** The recorded revision; read from the hub when the informer has not got it yet. */
  async #revision(object: FederatedObject, name: string): Promise<RevisionData> {
    const { namespace = '' } = object.metadata;
    const cached = this.#options.revisions.get(`${namespace}/${name}`);
    const revision = cached ?? (await this.#options.hub.get({ gvk: CONTROLLER_REVISION, namespace, name }));
    if (revision === undefined) throw new WaitingError(`ControllerRevision ${namespace}/${name} is not there yet`);
    return dataOf(revision);
  }

  #mark(object: FederatedObject): OwnerMark {
    const { namespace = '', name, uid = '' } = object.metadata;
    return {
      installation: this.#options.installation,
      kind: kindName(this.#options.kind.federated.gvk),
      namespace,
      name,
      uid,
    };
  }
}

/** What the object's policy says about applying it. */
function applyPolicy({ spec }: FederatedObject, desired: KubernetesObject): Partial<ApplierRequest> {
  const { policy } = spec;
  return {
    adoption: policy?.adoption ?? 'Fail',
    updates: policy?.updates ?? 'Always',
    force: policy?.conflicts === 'Force',
    ignore: ownRules(desired, policy?.ignore ?? []),
  };
}

/** A suspended object is left as it is everywhere, also where it would be withdrawn; its deletion is still carried out. */
function isSuspended({ spec, metadata }: FederatedObject): boolean {
  return spec.suspend && metadata.deletionTimestamp === undefined;
}
