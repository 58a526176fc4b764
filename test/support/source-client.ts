import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { GroupVersionKind } from '../../src/kernel/index.ts';
import { KubernetesClient } from '../../src/kubernetes/index.ts';
import type { ListOptions, ListPage, WatchEvent, WatchOptions } from '../../src/kubernetes/index.ts';

/** What answers lists and watches in an API server's place: a script, or a memory. */
export interface Source {
  /** The version that it says it is at; by default one that nothing is ahead of. */
  readonly version?: string;
  list(options: ListOptions): Promise<ListPage>;
  watch(options: WatchOptions): AsyncGenerator<WatchEvent, void>;
}

const AHEAD_OF_ALL = '999999';

/** An informer asks so for the server's version alone. */
function isProbe({ limit, metadataOnly }: ListOptions): boolean {
  return limit === 1 && metadataOnly === true;
}

/** A client without a server: its lists and watches are answered by a source. Opens no connection. */
export class SourceClient extends KubernetesClient {
  readonly #sourceOf: (gvk: GroupVersionKind) => Source;

  constructor(source: Source | ((gvk: GroupVersionKind) => Source)) {
    super({
      cluster: 'eu-1',
      connection: { server: 'https://127.0.0.1:9' },
      clock: systemClock,
      random: () => 0,
      logger: silentLogger,
      metrics: noMetrics,
    });
    this.#sourceOf = typeof source === 'function' ? source : (): Source => source;
  }

  override list(gvk: GroupVersionKind, options: ListOptions = {}): Promise<ListPage> {
    const source = this.#sourceOf(gvk);
    if (!isProbe(options)) return source.list(options);
    return Promise.resolve({ items: [], resourceVersion: source.version ?? AHEAD_OF_ALL });
  }

  override watch(gvk: GroupVersionKind, options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    return this.#sourceOf(gvk).watch(options);
  }
}
