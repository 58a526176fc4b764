import { byOwnerUid } from '../informers/index.ts';
import type { HandlerRegistration, SharedInformer, SharedInformerFactory } from '../informers/index.ts';
import { WaitingError, done, formatGvk, formatKey, objectKey } from '../kernel/index.ts';
import type { Clock, ClusterName, Counter, GroupVersionKind, Key, Logger, Metrics, Result } from '../kernel/index.ts';
import type { KeyedQueue, Priority, Reconcile, ReconcileContext } from '../workqueue/index.ts';
import { MutationCache } from './mutation-cache.ts';
import { isResync } from './object-event.ts';
import type { ObjectEvent } from './object-event.ts';
import { keysOf, passes } from './source.ts';
import type { Source } from './source.ts';

/** The index of owned sources by the UIDs of their objects' owners. */
export const OWNER_INDEX = 'owner';

/** The caches of a controller's sources, by kind. Throws for a kind that the controller does not watch. */
export type Caches = (gvk: GroupVersionKind) => MutationCache;

/** What a controller is attached to. */
export interface ControllerOptions {
  readonly cluster: ClusterName;
  readonly informers: Pick<SharedInformerFactory, 'informer'>;
  /** Takes the keys that events lead to. */
  readonly queue: Pick<KeyedQueue, 'add'>;
  /**
   * Makes the reconciler, which reads from these caches: what it reads is then what its controller watches. Absent where
   * the keys are reconciled by another controller.
   */
  readonly reconciler?: ((caches: Caches) => Reconcile) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** What a builder declares. */
export interface ControllerDeclaration {
  /** The kind of its keys, as in {@link Key}. */
  readonly kind: string;
  /** The source that it is for: each of its objects is to be reconciled. */
  readonly primary: Source | undefined;
  /** All sources, the primary included. */
  readonly sources: readonly Source[];
}

/**
 * The watches of one controller in one cluster, and its reconciler behind a gate:
 *
 * ```
 *  event ─▶ predicates ─▶ keys ─▶ open? ─yes─▶ queue ─▶ reconcile(key) ─▶ open? ─yes─▶ reconciler
 *                                   └─no─▶ held ◀───────────────────────────┘ no
 *                                           └─▶ queue, when every source has synced
 * ```
 */
export class Controller {
  readonly kind: string;
  readonly #declaration: ControllerDeclaration;
  readonly #options: ControllerOptions;
  readonly #failures: Counter;
  readonly #informers = new Map<Source, SharedInformer>();
  readonly #caches = new Map<string, MutationCache>();
  readonly #registrations: readonly HandlerRegistration[];
  readonly #reconcile: Reconcile | undefined;
  /** What came before the gate opened. */
  readonly #held = new Map<string, { readonly key: Key; readonly priority: Priority }>();
  #state: 'closed' | 'open' | 'detached' = 'closed';

  /** Made by a builder's `attach`. Informers that run already tell at once what there is. */
  constructor(declaration: ControllerDeclaration, options: ControllerOptions) {
    const { kind, sources } = declaration;
    this.kind = kind;
    this.#declaration = declaration;
    this.#options = options;
    this.#failures = options.metrics.counter({
      name: 'controller_event_failures_total',
      help: 'Predicates and map functions that threw, by controller',
      labelNames: ['cluster', 'controller'],
    });
    for (const source of sources) this.#informers.set(source, options.informers.informer(source.gvk, source.scope));
    this.#reconcile = options.reconciler?.((gvk) => this.#cacheOf(gvk));
    this.#registrations = [...this.#informers].map(([source, informer]) => this.#listen(source, informer));
    if (this.hasSynced()) this.#open();
    else void Promise.all(this.#registrations.map(({ synced }) => synced)).then(() => this.#open());
  }

  /** Every source has synced, and this controller has seen the objects of its initial list. */
  hasSynced(): boolean {
    return this.#registrations.every((registration) => registration.hasSynced());
  }

  /**
   * Runs the reconciler. A key that comes before every source has synced is held, and back in the queue when they have:
   * that is no failure, so it costs no backoff and no attempt.
   * @throws WaitingError when the controller is detached
   */
  async reconcile(key: Key, context: ReconcileContext): Promise<Result> {
    if (this.#reconcile === undefined) throw new TypeError(`this controller of ${this.kind} only watches`);
    if (this.#state === 'open') return this.#reconcile(key, context);
    if (this.#state === 'detached') throw new WaitingError(`the controller of ${this.kind} was detached`);
    this.#hold(key, 'event');
    return done;
  }

  /** The keys of all objects that the controller is for, as far as is known. */
  keys(): readonly Key[] {
    const { primary } = this.#declaration;
    const informer = primary && this.#informers.get(primary);
    if (primary === undefined || informer === undefined) return [];
    return informer.lister.list().flatMap((object) => primary.keysOf(object, this.#options.cluster));
  }

  /** Takes the handlers away and lets go of the informers. What is held is dropped: whoever attaches anew sees it all. */
  detach(): void {
    this.#state = 'detached';
    this.#held.clear();
    for (const registration of this.#registrations) registration.remove();
    for (const cache of this.#caches.values()) cache.close();
    for (const informer of this.#informers.values()) informer.release();
  }

  #cacheOf(gvk: GroupVersionKind): MutationCache {
    const name = formatGvk(gvk);
    const known = this.#caches.get(name);
    if (known !== undefined) return known;
    const sources = [...this.#informers.keys()].filter((source) => formatGvk(source.gvk) === name);
    const informer = sources[0] && this.#informers.get(sources[0]);
    if (informer === undefined)
      throw new TypeError(`the controller of ${this.kind} reads ${name}, which it does not watch`);
    const cache = new MutationCache({ informer, clock: this.#options.clock });
    if (sources.some(({ isOwned }) => isOwned)) cache.addIndex(OWNER_INDEX, byOwnerUid);
    this.#caches.set(name, cache);
    return cache;
  }

  #listen(source: Source, informer: SharedInformer): HandlerRegistration {
    const deliver = (event: ObjectEvent): void => this.#deliver(source, event);
    return informer.addHandler({
      onAdd: (object, isInInitialList) => deliver({ type: 'create', object, isInInitialList }),
      onUpdate: (previous, object) => deliver({ type: 'update', previous, object }),
      onDelete: (object) => deliver({ type: 'delete', object }),
    });
  }

  #deliver(source: Source, event: ObjectEvent): void {
    const onFailure = (error: unknown): void => this.#failed(source, event, error);
    if (!passes(source, event, onFailure)) return;
    const keys = keysOf(source, event, this.#options.cluster, onFailure);
    const priority = priorityOf(event);
    for (const key of new Map(keys.map((each) => [formatKey(each), each])).values()) this.#enqueue(key, priority);
  }

  #enqueue(key: Key, priority: Priority): void {
    if (this.#state === 'open') this.#options.queue.add(key, { priority });
    else this.#hold(key, priority);
  }

  /** A key that waits as an event stays one. */
  #hold(key: Key, priority: Priority): void {
    const text = formatKey(key);
    if (this.#held.get(text)?.priority !== 'event') this.#held.set(text, { key, priority });
  }

  #open(): void {
    if (this.#state !== 'closed') return;
    this.#state = 'open';
    for (const { key, priority } of this.#held.values()) this.#options.queue.add(key, { priority });
    this.#held.clear();
  }

  #failed({ gvk }: Source, { object }: ObjectEvent, error: unknown): void {
    const { cluster, logger } = this.#options;
    this.#failures.inc({ cluster, controller: this.kind });
    logger.error('a predicate or a map function failed', {
      controller: this.kind,
      object: `${gvk.kind} ${objectKey(object)}`,
      error,
    });
  }
}

/** What was there before comes after what happens (controller-runtime, WithLowPriorityWhenUnchanged). */
function priorityOf(event: ObjectEvent): Priority {
  const isNoNews = event.type === 'create' ? event.isInInitialList : isResync(event);
  return isNoNews ? 'resync' : 'event';
}
