import { formatGvk } from '../kernel/index.ts';
import type { Cancel, Clock, GroupVersionKind, KubernetesObject, Logger, Metrics, Random } from '../kernel/index.ts';
import { KindNotFoundError } from '../kubernetes/index.ts';
import type { KubernetesClient } from '../kubernetes/index.ts';
import { Informer } from './informer.ts';
import { InformerHandle } from './informer-handle.ts';
import { InformerGauges, informerCounters } from './informer-metrics.ts';
import type { InformerCounters } from './informer-metrics.ts';
import { ListLimit } from './list-limit.ts';
import { MemoryBudget } from './memory-budget.ts';
import type { ReflectorSource } from './reflector-source.ts';
import type { Scope, SharedInformer } from './shared-informer.ts';

type Transform = (object: KubernetesObject) => KubernetesObject;

/** Options of {@link SharedInformerFactory}; durations in milliseconds. */
export interface SharedInformerFactoryOptions {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** How often handlers are told all objects again. Default 10 h, ± 10 %; 0 for never. */
  readonly resyncPeriod?: number;
  /** Called for each object before it is stored; its answer is what is kept and told. Not called for bookmarks. */
  readonly transform?: Transform;
  /** How many full lists run at once: one limit for all factories of a process. Default one of its own. */
  readonly listLimit?: ListLimit;
  /** Each informer's first list waits for up to this time at random. Default none. */
  readonly startJitter?: number;
  /** About how many bytes the objects of all informers may take. Default 1 GiB. */
  readonly memoryLimit?: number;
  /** Whoever changes an object out of the cache gets a TypeError, wherever in it. For tests: it costs time. */
  readonly detectMutations?: boolean;
  /** Lists come in pages of this many objects. Default: what the server has in its cache comes whole, the rest by 500. */
  readonly pageSize?: number;
  /** Watches are ended by the server after between this time and twice as long. Default, and least, 5 min. */
  readonly minWatchTime?: number;
}

/** Options of {@link SharedInformerFactory.informer}. */
export interface InformerForm {
  /** The informer holds and tells metadata only: a fraction of the memory. */
  readonly metadataOnly?: boolean;
}

/** An informer and how many want it. */
interface Shared {
  readonly informer: Informer;
  readonly stop: AbortController;
  references: number;
}

const RESYNC_PERIOD = 10 * 60 * 60 * 1000;
const MEMORY_LIMIT = 1024 * 1024 * 1024;
/** A server that answers one call and not the next must not do away with all backoff. */
const WAKE_INTERVAL = 5000;
/** How old gauges may be. */
const GAUGE_INTERVAL = 10_000;

/** The informers of one cluster, one per kind, scope and form. */
export class SharedInformerFactory {
  readonly #options: SharedInformerFactoryOptions;
  readonly #informers = new Map<string, Shared>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #forgetClient: Cancel;
  readonly #listLimit: ListLimit;
  readonly #budget: MemoryBudget;
  readonly #counters: InformerCounters;
  readonly #gauges: InformerGauges;
  #cancelGauges: Cancel = () => undefined;
  #isStarted = false;
  #wokenAt = Number.NEGATIVE_INFINITY;

  constructor(options: SharedInformerFactoryOptions) {
    const { client, clock, metrics, listLimit, memoryLimit = MEMORY_LIMIT } = options;
    this.#options = options;
    this.#listLimit = listLimit ?? new ListLimit({ clock });
    this.#budget = new MemoryBudget(memoryLimit);
    this.#counters = informerCounters(metrics);
    this.#gauges = new InformerGauges(client.cluster, metrics);
    this.#forgetClient = client.onRecovered(() => this.#wake());
  }

  /**
   * The informer of a kind, scope and form: who asks for the same gets the same. Each call is a reference, to be released;
   * with the last the informer stops and its memory is freed. After {@link start} it starts at once.
   */
  informer(gvk: GroupVersionKind, scope: Scope = {}, form: InformerForm = {}): SharedInformer {
    const key = keyOf(gvk, scope, form);
    const shared = this.#informers.get(key) ?? this.#create(key, { gvk, scope, form });
    shared.references += 1;
    return new InformerHandle(shared.informer, () => this.#release(key, shared));
  }

  /** Starts the informers that there are, and those that come. Calling it again does nothing. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const shared of this.#informers.values()) this.#run(shared);
    if (!this.#stop.signal.aborted) this.#showGauges();
  }

  /** Resolves true when all informers that there are now have synced, false when stopped or aborted before. */
  async waitForSync(signal?: AbortSignal): Promise<boolean> {
    const end = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal;
    const { promise: ended, resolve } = Promise.withResolvers<boolean>();
    const finish = (): void => resolve(false);
    if (end.aborted) finish();
    end.addEventListener('abort', finish, { once: true });
    const synced = Promise.all(this.#all().map((informer) => informer.synced)).then(() => true);
    const result = await Promise.race([ended, synced]);
    end.removeEventListener('abort', finish);
    return result;
  }

  /** Ends all watches; resolves when nothing is running any more. A stopped factory cannot be started again. */
  async stop(): Promise<void> {
    this.#forgetClient();
    this.#cancelGauges();
    this.#gauges.show([]);
    this.#stop.abort();
    for (const informer of this.#all()) informer.stop();
    await Promise.all(this.#running);
  }

  /**
   * Milliseconds since the last sign of life of the most stale informer; 0 when there is none. A sign of life is a list,
   * an event, a bookmark, an accepted watch, or the certain answer that the kind is not served.
   */
  staleness(): number {
    return Math.max(0, ...this.#all().map((informer) => informer.staleness()));
  }

  /** The kinds that the server certainly does not serve, or not any more, as far as the informers were told. */
  unserved(): readonly GroupVersionKind[] {
    return this.#all()
      .filter((informer) => informer.lastError() instanceof KindNotFoundError)
      .map(({ gvk }) => gvk);
  }

  #all(): Informer[] {
    return [...this.#informers.values()].map(({ informer }) => informer);
  }

  #create(key: string, wanted: Wanted): Shared {
    const { client, resyncPeriod = RESYNC_PERIOD, detectMutations = false, transform } = this.#options;
    const informer = new Informer({
      ...this.#options,
      cluster: client.cluster,
      gvk: wanted.gvk,
      source: sourceOf(client, wanted, transform),
      resyncPeriod,
      detectMutations,
      counters: this.#counters,
      listLimit: this.#listLimit,
      budget: this.#budget,
    });
    const shared = { informer, stop: new AbortController(), references: 0 };
    this.#informers.set(key, shared);
    if (this.#isStarted) this.#run(shared);
    return shared;
  }

  #release(key: string, shared: Shared): void {
    shared.references -= 1;
    if (shared.references > 0) return;
    this.#informers.delete(key);
    shared.stop.abort();
    shared.informer.stop();
    shared.informer.store.close();
    if (this.#isStarted && !this.#stop.signal.aborted) this.#gauges.show(this.#all());
  }

  /** A server that is back shall not be seen as it was before for as long as a backoff lasts. */
  #wake(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#wokenAt < WAKE_INTERVAL) return;
    this.#wokenAt = now;
    for (const informer of this.#all()) informer.wake();
  }

  #run({ informer, stop }: Shared): void {
    if (this.#stop.signal.aborted) return;
    const running = informer.run(AbortSignal.any([this.#stop.signal, stop.signal]));
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  #showGauges(): void {
    this.#gauges.show(this.#all());
    this.#cancelGauges = this.#options.clock.after(GAUGE_INTERVAL, () => this.#showGauges());
  }
}

interface Wanted {
  readonly gvk: GroupVersionKind;
  readonly scope: Scope;
  readonly form: InformerForm;
}

function keyOf(gvk: GroupVersionKind, scope: Scope, { metadataOnly = false }: InformerForm): string {
  const { namespace = '', labelSelector = '', fieldSelector = '' } = scope;
  return JSON.stringify([formatGvk(gvk), namespace, labelSelector, fieldSelector, metadataOnly]);
}

function sourceOf(
  client: KubernetesClient,
  { gvk, scope, form }: Wanted,
  transform: Transform | undefined,
): ReflectorSource {
  const selection = { ...scope, ...form, ...(transform && { transform }) };
  const { namespace } = scope;
  const probe = { metadataOnly: true, limit: 1, ...(namespace !== undefined && { namespace }) };
  return {
    list: (options) => client.list(gvk, { ...selection, ...options }),
    watch: (options) => client.watch(gvk, { ...selection, ...options }),
    // Without a version the server answers what its storage says. One object of any, because finding one that a selector
    // fits may mean to read all.
    newestVersion: async (signal) => (await client.list(gvk, { ...probe, signal })).resourceVersion,
  };
}
