import { formatGvk } from '../kernel/index.ts';
import type { Counter, Gauge, GroupVersionKind, Metrics } from '../kernel/index.ts';

/** What informers count, whichever they are. */
export interface InformerCounters {
  readonly lists: Counter;
  readonly failures: Counter;
  readonly handlerFailures: Counter;
  readonly coalesced: Counter;
}

const KIND_LABELS = ['cluster', 'kind'];

/** The counters of all informers; names and labels are bounded by clusters, kinds and classes of errors. */
export function informerCounters(metrics: Metrics): InformerCounters {
  const counter = (name: string, help: string, more: readonly string[] = []): Counter =>
    metrics.counter({ name, help, labelNames: [...KIND_LABELS, ...more] });
  return {
    lists: counter('informer_lists_total', 'Complete lists that an informer took over, the first included'),
    failures: counter(
      'informer_failures_total',
      'Failed lists and watches; UnexpectedAnswerError counts malformed and oversized events',
      ['error'],
    ),
    handlerFailures: counter('informer_handler_failures_total', 'Notifications that a handler threw at or rejected'),
    coalesced: counter(
      'informer_coalesced_total',
      'Notifications that were drawn together with one that waited for a slow handler',
    ),
  };
}

/** An informer, as far as it is shown. */
interface Shown {
  readonly gvk: GroupVersionKind;
  readonly store: { readonly count: number; readonly size: number };
  backlog(): number;
  staleness(): number;
  resourceVersion(): string | undefined;
}

/** What is shown of one kind in one cluster. */
interface Figures {
  objects: number;
  bytes: number;
  queued: number;
  silence: number;
  version: number;
}

/** Gauges of the informers of a cluster, by kind: informers of one kind with different scopes are shown as one. */
export class InformerGauges {
  readonly #cluster: string;
  readonly #gauges: Readonly<Record<keyof Figures, Gauge>>;
  #shown: ReadonlySet<string> = new Set();

  constructor(cluster: string, metrics: Metrics) {
    this.#cluster = cluster;
    const gauge = (name: string, help: string): Gauge => metrics.gauge({ name, help, labelNames: KIND_LABELS });
    this.#gauges = {
      objects: gauge('informer_objects', 'Objects in memory'),
      bytes: gauge('informer_bytes', 'About how much memory the objects take'),
      queued: gauge('informer_queued_items', 'Notifications that wait for handlers'),
      silence: gauge(
        'informer_seconds_since_last_event',
        'Time since a list, an event, a bookmark or an accepted watch; of the longest silent informer of the kind',
      ),
      version: gauge(
        'informer_store_resource_version',
        'Where resourceVersions are numbers, the version that the objects in memory are at; the oldest of the kind',
      ),
    };
  }

  /** Shows how these informers are, and no others. */
  show(informers: Iterable<Shown>): void {
    const byKind = new Map<string, Figures>();
    for (const informer of informers) {
      const kind = formatGvk(informer.gvk);
      byKind.set(kind, add(byKind.get(kind), informer));
    }
    for (const kind of this.#shown) if (!byKind.has(kind)) this.#remove(kind);
    for (const [kind, figures] of byKind) this.#set(kind, figures);
    this.#shown = new Set(byKind.keys());
  }

  #set(kind: string, figures: Figures): void {
    const labels = { cluster: this.#cluster, kind };
    for (const [name, gauge] of this.#each()) {
      const value = figures[name];
      if (Number.isFinite(value)) gauge.set(labels, value);
      else gauge.remove(labels);
    }
  }

  #remove(kind: string): void {
    for (const [, gauge] of this.#each()) gauge.remove({ cluster: this.#cluster, kind });
  }

  #each(): [keyof Figures, Gauge][] {
    return Object.entries(this.#gauges) as [keyof Figures, Gauge][];
  }
}

function add(figures: Figures | undefined, informer: Shown): Figures {
  const { objects = 0, bytes = 0, queued = 0, silence = 0, version = Number.POSITIVE_INFINITY } = figures ?? {};
  return {
    objects: objects + informer.store.count,
    bytes: bytes + informer.store.size,
    queued: queued + informer.backlog(),
    silence: Math.max(silence, informer.staleness() / 1000),
    version: Math.min(version, Number(informer.resourceVersion() ?? Number.NaN)),
  };
}
