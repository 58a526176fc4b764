import { formatGvk } from '../kernel/index.ts';
import type { Cancel, Clock, GroupVersionKind, Logger, Metrics, Random } from '../kernel/index.ts';
import { KindNotFoundError } from '../kubernetes/index.ts';
import type { KubernetesClient } from '../kubernetes/index.ts';
import { Informer } from './informer.ts';
import type { ReflectorSource } from './reflector.ts';
import type { Scope, SharedInformer } from './shared-informer.ts';

/** Options of {@link SharedInformerFactory}; durations in milliseconds. */
export interface SharedInformerFactoryOptions {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** How often handlers are told all objects again. Default 10 h, ± 10 %. */
  readonly resyncPeriod?: number;
}

const RESYNC_PERIOD = 10 * 60 * 60 * 1000;
/** A server that answers one call and not the next must not do away with all backoff. */
const WAKE_INTERVAL = 5000;

/** The informers of one cluster, one per kind and scope. */
export class SharedInformerFactory {
  readonly #options: SharedInformerFactoryOptions;
  readonly #informers = new Map<string, Informer>();
  readonly #running: Promise<void>[] = [];
  readonly #stop = new AbortController();
  readonly #forgetClient: Cancel;
  #isStarted = false;
  #wokenAt = Number.NEGATIVE_INFINITY;

  constructor(options: SharedInformerFactoryOptions) {
    this.#options = options;
    this.#forgetClient = options.client.onRecovered(() => this.#wake());
  }

  /** The informer of a kind and scope: same arguments, same instance. After {@link start} it starts at once. */
  informer(gvk: GroupVersionKind, scope: Scope = {}): SharedInformer {
    const key = [formatGvk(gvk), scope.namespace, scope.labelSelector, scope.fieldSelector].join('|');
    const existing = this.#informers.get(key);
    if (existing) return existing;
    const { client, resyncPeriod = RESYNC_PERIOD, ...rest } = this.#options;
    const source = sourceOf(client, gvk, scope);
    const informer = new Informer({ ...rest, cluster: client.cluster, gvk, source, resyncPeriod });
    this.#informers.set(key, informer);
    if (this.#isStarted) this.#run(informer);
    return informer;
  }

  /** Starts the informers that there are, and those that come. Calling it again does nothing. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const informer of this.#informers.values()) this.#run(informer);
  }

  /** Resolves true when all informers that there are now have synced, false when stopped or aborted before. */
  async waitForSync(signal?: AbortSignal): Promise<boolean> {
    const end = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal;
    const { promise: ended, resolve } = Promise.withResolvers<boolean>();
    const finish = (): void => resolve(false);
    if (end.aborted) finish();
    end.addEventListener('abort', finish, { once: true });
    const synced = Promise.all([...this.#informers.values()].map((informer) => informer.synced)).then(() => true);
    const result = await Promise.race([ended, synced]);
    end.removeEventListener('abort', finish);
    return result;
  }

  /** Ends all watches; resolves when nothing is running any more. A stopped factory cannot be started again. */
  async stop(): Promise<void> {
    this.#forgetClient();
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  /**
   * Milliseconds since the last sign of life of the most stale informer; 0 when there is none. A sign of life is a list,
   * an event, a bookmark, an accepted watch, or the certain answer that the kind is not served.
   */
  staleness(): number {
    return Math.max(0, ...[...this.#informers.values()].map((informer) => informer.staleness()));
  }

  /** The kinds that the server certainly does not serve, or not any more, as far as the informers were told. */
  unserved(): readonly GroupVersionKind[] {
    const informers = [...this.#informers.values()];
    return informers.filter((informer) => informer.lastError() instanceof KindNotFoundError).map(({ gvk }) => gvk);
  }

  /** A server that is back shall not be seen as it was before for as long as a backoff lasts. */
  #wake(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#wokenAt < WAKE_INTERVAL) return;
    this.#wokenAt = now;
    for (const informer of this.#informers.values()) informer.wake();
  }

  #run(informer: Informer): void {
    if (!this.#stop.signal.aborted) this.#running.push(informer.run(this.#stop.signal));
  }
}

function sourceOf(client: KubernetesClient, gvk: GroupVersionKind, scope: Scope): ReflectorSource {
  return {
    list: (options) => client.list(gvk, { ...scope, ...options }),
    watch: (options) => client.watch(gvk, { ...scope, ...options }),
  };
}
