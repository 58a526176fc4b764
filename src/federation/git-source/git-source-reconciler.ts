import { parseDuration } from '../../api/index.ts';
import type { FederatedKind, GitSource } from '../../api/index.ts';
import { applyStatus } from '../../apply/index.ts';
import { addFinalizer, containsFinalizer, removeFinalizer } from '../../controllers/index.ts';
import type { MutationCache } from '../../controllers/index.ts';
import type { EventPort } from '../../events/index.ts';
import { GitError } from '../../git/index.ts';
import type { GitReader } from '../../git/index.ts';
import { done, formatTime, objectKey, requeueAfter } from '../../kernel/index.ts';
import type { Clock, Key, Logger, PolicyRule, Random, Result } from '../../kernel/index.ts';
import { CORE, ForbiddenError, writeAs } from '../../kubernetes/index.ts';
import type { ManifestReading } from '../../manifests/index.ts';
import type { ReconcileContext } from '../../workqueue/index.ts';
import { CASCADE_FINALIZER } from '../cascade-finalizer.ts';
import { credentialsOf } from './credentials.ts';
import { gitSourceEvents } from './git-source-events.ts';
import { gitSourceStatus } from './git-source-status.ts';
import type { SyncOutcome } from './git-source-status.ts';
import { RevisionReader } from './revision-reader.ts';
import { SyncError } from './sync-error.ts';
import { pruneAll, syncRevision } from './sync-revision.ts';
import type { SyncOptions } from './sync-request.ts';

/** An interval gets up to this share added, so that sources do not poll in step. */
const JITTER = 0.1;
/** A source that is being deleted looks this often whether what it applied is gone. */
const DELETION_CHECK = 2000;
/** How long a removal that is refused waits for somebody to grant the right. */
const FORBIDDEN_RETRY = 60_000;

/** What the reconciler works on. */
export interface GitSourceReconcilerOptions extends SyncOptions {
  readonly sources: MutationCache;
  readonly git: GitReader<ManifestReading>;
  readonly events: EventPort;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const suspended: SyncOutcome = { kind: 'suspended' };

/** Git → hub: one commit, read whole and checked whole, becomes the hub objects of a source. */
export class GitSourceReconciler {
  readonly #options: GitSourceReconcilerOptions;
  readonly #reader: RevisionReader;

  constructor(options: GitSourceReconcilerOptions) {
    this.#options = options;
    this.#reader = new RevisionReader(options.git);
  }

  /**
   * Hub rights. A source without a service account writes as Atoll itself, and then federated objects of its own
   * namespace only; what others may apply is their service account's.
   */
  static rules(kinds: readonly FederatedKind[]): readonly PolicyRule[] {
    const apiGroups = ['federation.atoll.dev'];
    return [
      { apiGroups, resources: ['gitsources'], verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups, resources: ['gitsources/status'], verbs: ['patch'] },
      { apiGroups, resources: kinds.map(({ federated }) => federated.plural), verbs: ['create', 'patch', 'delete'] },
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
    ];
  }

  /** What a namespace with sources grants to Atoll: its Git credentials, and acting as its service accounts. */
  static readonly tenantRules: readonly PolicyRule[] = [
    { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] },
  ];

  /** fetch → deleted? → finalizer → suspended? → sync → status. */
  async reconcile(key: Key, context: ReconcileContext): Promise<Result> {
    const source = this.#fetch(key);
    if (source === undefined) return done;
    if (source.metadata.deletionTimestamp !== undefined) return this.#finalize(source, context);
    if (!containsFinalizer(source, CASCADE_FINALIZER)) return this.#adopt(source, context);
    const outcome = source.spec.suspend ? suspended : await this.#sync(source, context);
    await this.#writeStatus(source, outcome, context);
    if (source.spec.suspend) return done;
    const interval = parseDuration(source.spec.interval) * (1 + JITTER * this.#options.random());
    return requeueAfter(Math.min(interval, ('retryAfter' in outcome ? outcome.retryAfter : undefined) ?? interval));
  }

  #fetch(key: Key): GitSource | undefined {
    return this.#options.sources.get(`${key.namespace}/${key.name}`) as GitSource | undefined;
  }

  async #adopt(source: GitSource, context: ReconcileContext): Promise<Result> {
    this.#options.sources.remember(
      await addFinalizer(this.#options.hub, source, CASCADE_FINALIZER, writeAs('atoll', context)),
    );
    return requeueAfter(0);
  }

  /** A deleted source takes with it what it applied (unless `prune: false`); then its finalizer goes. */
  async #finalize(source: GitSource, context: ReconcileContext): Promise<Result> {
    this.#reader.forget(source.metadata.uid ?? '');
    if (!containsFinalizer(source, CASCADE_FINALIZER)) return done;
    try {
      const left = await pruneAll({ source, write: writeAs('atoll', context) }, this.#options);
      if (left > 0) return requeueAfter(DELETION_CHECK);
    } catch (error) {
      if (!(error instanceof ForbiddenError)) throw error;
      if (!(await this.#isNamespaceGoing(source))) return this.#waitForRights(source, error, context);
      this.#options.logger.warn('git source goes with its namespace', { source: objectKey(source), error });
    }
    await removeFinalizer(this.#options.hub, source, CASCADE_FINALIZER, writeAs('atoll', context));
    return done;
  }

  /** With a namespace go the rights in it, and by itself most of what its sources applied. */
  async #isNamespaceGoing({ metadata }: GitSource): Promise<boolean> {
    const namespace = await this.#options.hub.get({ gvk: CORE.Namespace, name: metadata.namespace ?? '' });
    return namespace?.metadata.deletionTimestamp !== undefined;
  }

  async #waitForRights(source: GitSource, error: ForbiddenError, context: ReconcileContext): Promise<Result> {
    const message = `what it applied cannot be removed: ${error.message}`;
    await this.#writeStatus(source, { kind: 'failed', reason: 'Forbidden', message, revision: undefined }, context);
    return requeueAfter(FORBIDDEN_RETRY);
  }

  async #sync(source: GitSource, context: ReconcileContext): Promise<SyncOutcome> {
    try {
      const credentials = await credentialsOf(source, this.#options.hub);
      const { revision, manifests } = await this.#reader.read(source, credentials);
      const request = { source, revision, manifests, write: writeAs('atoll', context) };
      const result = await syncRevision(request, this.#options);
      if (result.applied + result.pruned > 0) {
        this.#options.logger.info('git source synced', { source: objectKey(source), revision, ...result });
      }
      return { kind: 'synced', revision, result };
    } catch (error) {
      return this.#failure(source, error);
    }
  }

  /** Errors that say what is wrong with the source become its status; anything else is the queue's to retry. */
  #failure(source: GitSource, error: unknown): SyncOutcome {
    if (!(error instanceof SyncError || error instanceof GitError)) throw error;
    this.#options.logger.warn('git source not synced', { source: objectKey(source), error });
    const { revision, retryAfter } = error instanceof SyncError ? error : {};
    return { kind: 'failed', reason: error.reason, message: error.message, revision, retryAfter };
  }

  async #writeStatus(source: GitSource, outcome: SyncOutcome, context: ReconcileContext): Promise<void> {
    const status = gitSourceStatus(source, outcome, formatTime(this.#options.clock.now()));
    const updated = await applyStatus(this.#options.hub, source, status, writeAs('atoll-status', context));
    if (updated === undefined) return;
    this.#options.sources.remember(updated);
    for (const note of gitSourceEvents(source.status, status)) this.#options.events.record(source, note);
  }
}
