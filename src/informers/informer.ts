import { formatGvk, objectKey } from '../kernel/index.ts';
import type {
  Cancel,
  Clock,
  Counter,
  GroupVersionKind,
  KubernetesObject,
  Logger,
  Metrics,
  Random,
} from '../kernel/index.ts';
import { KindNotFoundError } from '../kubernetes/index.ts';
import type { WatchEvent } from '../kubernetes/index.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorSource, ReflectorTarget } from './reflector.ts';
import type { EventHandler, HandlerRegistration, Lister, SharedInformer } from './shared-informer.ts';
import { Store } from './store.ts';
import type { IndexValues, StoreChange } from './store.ts';

/** Options of {@link Informer}; durations in milliseconds. */
export interface InformerOptions {
  readonly cluster: string;
  readonly gvk: GroupVersionKind;
  readonly source: ReflectorSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly resyncPeriod: number;
}

interface Registration {
  readonly handler: EventHandler;
  hasSynced: boolean;
}

/** Resyncs of many informers that started together drift apart by this share. */
const RESYNC_JITTER = 0.1;

/** A reflector, the store that it keeps current, and the handlers that are told. */
export class Informer implements SharedInformer, ReflectorTarget {
  readonly gvk: GroupVersionKind;
  readonly lister: Lister;
  /** Resolves when the initial list is in the store and its handlers have been told. */
  readonly synced: Promise<void>;
  readonly #options: InformerOptions;
  readonly #logger: Logger;
  readonly #store: Store;
  readonly #failures: Counter;
  readonly #lists: Counter;
  readonly #registrations = new Set<Registration>();
  readonly #onSynced: () => void;
  #reflector: Reflector | undefined;
  #hasSynced = false;
  #lastError: Error | undefined;
  #heardAt: number;

  constructor(options: InformerOptions) {
    const { gvk, clock, metrics } = options;
    this.gvk = gvk;
    this.#options = options;
    this.#logger = options.logger.child({ kind: formatGvk(gvk) });
    this.#store = new Store(this.#logger);
    this.lister = this.#store;
    this.#heardAt = clock.monotonic();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.synced = promise;
    this.#onSynced = resolve;
    this.#lists = metrics.counter({
      name: 'informer_lists_total',
      help: 'Complete lists that an informer took over, the first included',
      labelNames: ['cluster', 'kind'],
    });
    this.#failures = metrics.counter({
      name: 'informer_failures_total',
      help: 'Failed lists and watches; UnexpectedAnswerError counts malformed and oversized events',
      labelNames: ['cluster', 'kind', 'error'],
    });
  }

  addIndex(name: string, values: IndexValues): void {
    this.#store.addIndex(name, values);
  }

  /** A handler that comes late is told at once what there is. */
  addHandler(handler: EventHandler): HandlerRegistration {
    const registration: Registration = { handler, hasSynced: false };
    this.#registrations.add(registration);
    for (const current of this.#store.list()) this.#tell(registration, { current }, true);
    registration.hasSynced = this.#hasSynced;
    return {
      hasSynced: () => registration.hasSynced,
      remove: () => void this.#registrations.delete(registration),
    };
  }

  hasSynced(): boolean {
    return this.#hasSynced;
  }

  lastError(): Error | undefined {
    return this.#lastError;
  }

  /** Milliseconds since the last sign of life. */
  staleness(): number {
    return this.#options.clock.monotonic() - this.#heardAt;
  }

  /** Tries again at once, should it be waiting to. */
  wake(): void {
    this.#reflector?.wake();
  }

  /** Lists and watches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { source, clock, random } = this.#options;
    this.#heardAt = clock.monotonic();
    const reflector = new Reflector({ source, target: this, clock, random });
    this.#reflector = reflector;
    let cancel: Cancel = () => undefined;
    const resync = (): void => {
      const audience = [...this.#registrations];
      for (const object of this.#store.list()) this.#tellAll({ previous: object, current: object }, audience);
      cancel = clock.after(this.#resyncDelay(), resync);
    };
    cancel = clock.after(this.#resyncDelay(), resync);
    await reflector.run(signal);
    cancel();
  }

  replace(objects: readonly KubernetesObject[]): void {
    const isInitial = !this.#hasSynced;
    this.#lists.inc(this.#labels());
    // The store has everything before anybody is told, so that a handler that looks around sees the whole of it.
    // Who registers while others are told is told everything by registering.
    const audience = [...this.#registrations];
    for (const change of this.#store.replace(objects)) this.#tellAll(change, audience, isInitial);
    this.#hasSynced = true;
    for (const registration of this.#registrations) registration.hasSynced = true;
    this.#onSynced();
  }

  change({ type, object }: WatchEvent): void {
    const audience = [...this.#registrations];
    if (type === 'DELETED') {
      if (this.#store.delete(objectKey(object))) this.#tellAll({ previous: object }, audience);
      return;
    }
    const previous = this.#store.set(object);
    this.#tellAll(previous ? { previous, current: object } : { current: object }, audience);
  }

  heard(): void {
    this.#heardAt = this.#options.clock.monotonic();
    this.#lastError = undefined;
  }

  failed(error: Error): void {
    this.#failures.inc({ ...this.#labels(), error: error.name });
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

  #tellAll(change: StoreChange, audience: readonly Registration[], isInInitialList = false): void {
    for (const registration of audience) {
      if (this.#registrations.has(registration)) this.#tell(registration, change, isInInitialList);
    }
  }

  /** What one handler throws is its own affair: the store, the others and the process go on. */
  #tell({ handler }: Registration, change: StoreChange, isInInitialList: boolean): void {
    try {
      tell(handler, change, isInInitialList);
    } catch (error) {
      const { current = change.previous } = change;
      this.#logger.error('event handler failed', { key: current && objectKey(current), error });
    }
  }

  #resyncDelay(): number {
    const { resyncPeriod, random } = this.#options;
    return resyncPeriod * (1 - RESYNC_JITTER + 2 * RESYNC_JITTER * random());
  }

  #labels(): { cluster: string; kind: string } {
    return { cluster: this.#options.cluster, kind: formatGvk(this.gvk) };
  }
}

/** An object of the same name but another UID is another object: the old one was deleted while nobody looked. */
function tell(handler: EventHandler, { previous, current }: StoreChange, isInInitialList: boolean): void {
  if (!previous) {
    if (current) handler.onAdd?.(current, isInInitialList);
  } else if (!current) {
    handler.onDelete?.(previous);
  } else if (previous.metadata.uid !== current.metadata.uid) {
    handler.onDelete?.(previous);
    handler.onAdd?.(current, false);
  } else {
    handler.onUpdate?.(previous, current);
  }
}
