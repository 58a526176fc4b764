import { WorkStretch, formatGvk, objectKey } from '../kernel/index.ts';
import type { Cancel, Clock, GroupVersionKind, Logger, Random } from '../kernel/index.ts';
import { KindNotFoundError } from '../kubernetes/index.ts';
import type { WatchEvent } from '../kubernetes/index.ts';
import { freeze, freezeDeeply } from './freeze.ts';
import { InformerStoppedError } from './informer-errors.ts';
import type { InformerCounters } from './informer-metrics.ts';
import type { ListLimit } from './list-limit.ts';
import { Listener } from './listener.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorOptions } from './reflector.ts';
import type { FullList, ReflectorSource, ReflectorTarget } from './reflector-source.ts';
import type { EventHandler, HandlerOptions, HandlerRegistration, IndexValues, Lister } from './shared-informer.ts';
import { Store } from './store.ts';
import type { StoreChange } from './store.ts';
import { visitAll } from './visit-all.ts';

/** Options of {@link Informer}; durations in milliseconds. */
export interface InformerOptions extends Pick<ReflectorOptions, 'startJitter' | 'pageSize' | 'minWatchTime'> {
  readonly cluster: string;
  readonly gvk: GroupVersionKind;
  readonly source: ReflectorSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly counters: InformerCounters;
  readonly listLimit: ListLimit;
  readonly budget: MemoryBudget;
  readonly resyncPeriod: number;
  /** Objects are frozen with all their parts. */
  readonly detectMutations: boolean;
}

interface Registration {
  /** The last change that the handler knows from having been told what there is. */
  readonly since: number;
  readonly resyncPeriod: number;
  /** On whose behalf it was added. */
  readonly owner: object | undefined;
  cancelResync: Cancel;
}

/** Resyncs of many informers that started together drift apart by this share. */
const RESYNC_JITTER = 0.1;
const MIN_RESYNC_PERIOD = 1000;

/** A reflector, the store that it keeps current, and the handlers that are told. */
export class Informer implements ReflectorTarget {
  readonly gvk: GroupVersionKind;
  readonly store: Store;
  /** Resolves when the initial list is in the store and its handlers have been told, or were and have not answered yet. */
  readonly synced: Promise<void>;
  readonly #options: InformerOptions;
  readonly #logger: Logger;
  readonly #registrations = new Map<Listener, Registration>();
  readonly #onSynced: () => void;
  #reflector: Reflector | undefined;
  #state: 'new' | 'running' | 'stopped' = 'new';
  #hasSynced = false;
  /** The store may be ahead of what handlers were told: they are told again when they have been told. */
  #isReplacing = false;
  readonly #resyncLater = new Set<Listener>();
  #resourceVersion: string | undefined;
  #lastError: Error | undefined;
  #heardAt: number;

  constructor(options: InformerOptions) {
    const { gvk, clock, budget, detectMutations } = options;
    this.gvk = gvk;
    this.#options = options;
    this.#logger = options.logger.child({ kind: formatGvk(gvk) });
    this.store = new Store({ logger: this.#logger, budget, freeze: detectMutations ? freezeDeeply : freeze });
    this.#heardAt = clock.monotonic();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.synced = promise;
    this.#onSynced = resolve;
  }

  get lister(): Lister {
    return this.store;
  }

  addIndex(name: string, values: IndexValues): void {
    this.store.addIndex(name, values);
  }

  /** @throws InformerStoppedError */
  addHandler(handler: EventHandler, options: HandlerOptions = {}, owner?: object): HandlerRegistration {
    if (this.#state === 'stopped') throw new InformerStoppedError('this informer is stopped: nobody would be told');
    const { resyncPeriod = this.#options.resyncPeriod } = options;
    const { clock, counters } = this.#options;
    const labels = this.#labels();
    const listener = new Listener({
      handler,
      clock,
      logger: this.#logger,
      events: {
        onRemove: () => this.#forget(listener),
        onFailure: () => counters.handlerFailures.inc(labels),
        onCoalesce: () => counters.coalesced.inc(labels),
      },
    });
    const period = resyncPeriod === 0 ? 0 : Math.max(resyncPeriod, MIN_RESYNC_PERIOD);
    const cancelResync = (): void => undefined;
    const registration = { since: this.store.sequence, resyncPeriod: period, owner, cancelResync };
    this.#registrations.set(listener, registration);
    if (this.#state === 'running') this.#scheduleResync(listener, registration);
    listener.begin(this.store.list());
    if (this.#hasSynced) listener.endInitialList();
    return listener;
  }

  /** Removes what was added on somebody's behalf. */
  removeHandlers(owner: object): void {
    for (const [listener, registration] of this.#registrations) if (registration.owner === owner) listener.remove();
  }

  hasSynced(): boolean {
    return this.#hasSynced;
  }

  lastError(): Error | undefined {
    return this.#lastError;
  }

  resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  /** Milliseconds since the last sign of life. */
  staleness(): number {
    return this.#options.clock.monotonic() - this.#heardAt;
  }

  /** How many notifications wait for handlers. */
  backlog(): number {
    let waiting = 0;
    for (const listener of this.#registrations.keys()) waiting += listener.backlog;
    return waiting;
  }

  /** Tries again at once, should it be waiting to. */
  wake(): void {
    this.#reflector?.wake();
  }

  /** Lists and watches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#heardAt = this.#options.clock.monotonic();
    for (const [listener, registration] of this.#registrations) this.#scheduleResync(listener, registration);
    this.#reflector = new Reflector({ ...this.#options, target: this });
    await this.#reflector.run(signal);
    this.stop();
  }

  /** From now on no handler can be added and nothing is told again; what waits for one is told. */
  stop(): void {
    this.#state = 'stopped';
    for (const { cancelResync } of this.#registrations.values()) cancelResync();
  }

  async replace(list: FullList, isRewound: boolean): Promise<void> {
    this.#isReplacing = true;
    try {
      await this.#takeOver(list, isRewound);
    } finally {
      this.#isReplacing = false;
    }
    for (const listener of this.#resyncLater) listener.resync(this.store.list());
    this.#resyncLater.clear();
  }

  change({ type, object }: WatchEvent): void {
    // What was under way when it was stopped is nobody's business any more.
    if (this.#state === 'stopped') return;
    const change = type === 'DELETED' ? this.store.delete(objectKey(object), object) : this.store.set(object);
    this.#resourceVersion = object.metadata.resourceVersion ?? this.#resourceVersion;
    if (change) this.#tell(change);
  }

  bookmark(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
  }

  heard(): void {
    this.#heardAt = this.#options.clock.monotonic();
    this.#lastError = undefined;
  }

  failed(error: Error): void {
    this.#options.counters.failures.inc({ ...this.#labels(), error: error.name });
    const wasServed = !(this.#lastError instanceof KindNotFoundError);
    // A server that says that it does not have this kind is alive, and nothing of the kind can be stale.
    if (error instanceof KindNotFoundError) {
      this.heard();
      this.#logger[wasServed ? 'info' : 'debug']('kind is not served, looking again later', { error });
    } else {
      this.#logger.warn('list or watch failed, trying again', { error });
    }
    this.#lastError = error;
  }

  async #takeOver({ objects, size, resourceVersion }: FullList, isRewound: boolean): Promise<void> {
    const { clock, counters } = this.#options;
    const stretch = new WorkStretch(clock);
    // The store has everything before anybody is told, so that a handler that looks around sees the whole of it.
    const changes = await this.store.replace({ objects, size, isRewound, isInitial: !this.#hasSynced, stretch });
    this.#resourceVersion = resourceVersion;
    counters.lists.inc(this.#labels());
    await visitAll(changes, stretch, (change) => this.#tell(change));
    this.#hasSynced = true;
    for (const listener of this.#registrations.keys()) listener.endInitialList();
    this.#onSynced();
  }

  /** Who registered since the change was told it by registering. */
  #tell(change: StoreChange): void {
    for (const [listener, { since }] of this.#registrations) if (change.sequence > since) listener.notify(change);
  }

  #forget(listener: Listener): void {
    this.#registrations.get(listener)?.cancelResync();
    this.#registrations.delete(listener);
  }

  #scheduleResync(listener: Listener, registration: Registration): void {
    const { clock, random } = this.#options;
    const { resyncPeriod } = registration;
    if (resyncPeriod === 0) return;
    registration.cancelResync = clock.after(resyncPeriod * (1 - RESYNC_JITTER + 2 * RESYNC_JITTER * random()), () => {
      if (this.#isReplacing) this.#resyncLater.add(listener);
      else listener.resync(this.store.list());
      this.#scheduleResync(listener, registration);
    });
  }

  #labels(): { cluster: string; kind: string } {
    return { cluster: this.#options.cluster, kind: formatGvk(this.gvk) };
  }
}
