import { objectKey } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { ExpiredError, UnexpectedAnswerError } from '../kubernetes/index.ts';
import type { ListOptions, ListPage, WatchEvent } from '../kubernetes/index.ts';
import { WatchCutShortError } from './informer-errors.ts';
import type { ListPlace } from './list-limit.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { objectSize } from './object-size.ts';
import type { FullList, ReflectorSource } from './reflector-source.ts';

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
/** A server may send a page of which a selector left nothing, but not for ever: it would be read for ever. */
const MAX_BARREN_PAGES = 100;

/** How to read a paged list. */
export interface PagesRequest {
  /** "" for the newest state, "0" for any, else for this version or a newer one. */
  readonly resourceVersion: string;
  /** Of the first page; all objects at once when absent. */
  readonly limit: number | undefined;
  /** Of the pages after it. */
  readonly pageSize: number;
  readonly signal: AbortSignal;
}

/** A list that was read page by page, unless the server sent all at once. */
export interface PagedList extends FullList {
  readonly isPaged: boolean;
}

/** Gathers a list, and gives it up when it becomes too large. */
export class ListReader {
  readonly #budget: MemoryBudget;
  readonly #place: ListPlace;
  readonly #objects = new Map<string, KubernetesObject>();
  #size = 0;

  constructor(budget: MemoryBudget, place: ListPlace) {
    this.#budget = budget;
    this.#place = place;
  }

  /**
   * Reads a streamed list up to its end mark. Objects may already change while it is read.
   * @throws WatchCutShortError when it ends before; MemoryLimitError
   */
  async readStream(events: AsyncGenerator<WatchEvent, void>): Promise<FullList> {
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      this.#place.progress();
      const { type, object } = next.value;
      const { annotations, resourceVersion } = object.metadata;
      if (type === 'DELETED') this.#remove(objectKey(object));
      else if (type !== 'BOOKMARK') this.#add(object);
      else if (annotations?.[INITIAL_EVENTS_END] === 'true' && resourceVersion !== undefined) {
        return this.#listAt(resourceVersion);
      }
    }
    throw new WatchCutShortError('the server ended the streamed list before its end mark');
  }

  /**
   * Reads all pages. Their version is the first's. When a page has expired, everything is read in one, as the first page
   * was asked for. Source: client-go `tools/pager`.
   * @throws UnexpectedAnswerError when page after page bears nothing new; MemoryLimitError
   */
  async readPages(source: ReflectorSource, request: PagesRequest): Promise<PagedList> {
    const { resourceVersion, limit, pageSize, signal } = request;
    const first = await source.list({ resourceVersion, ...(limit !== undefined && { limit }), signal });
    this.#addPage(first);
    let next = first.continue;
    for (let barren = 0; next !== undefined;) {
      const { size } = this.#objects;
      const page = await nextPage(source, { limit: pageSize, continue: next, signal });
      if (page === undefined) return this.#readWhole(source, request);
      this.#addPage(page);
      next = page.continue;
      barren = this.#objects.size > size ? 0 : barren + 1;
      if (barren === MAX_BARREN_PAGES)
        throw new UnexpectedAnswerError(`${barren} pages in a row that bear nothing new`);
    }
    const isPaged = first.continue !== undefined;
    return { ...this.#listAt(first.resourceVersion), isPaged };
  }

  async #readWhole(source: ReflectorSource, { resourceVersion, signal }: PagesRequest): Promise<PagedList> {
    this.#objects.clear();
    this.#size = 0;
    const whole = await source.list({ resourceVersion, signal });
    this.#addPage(whole);
    return { ...this.#listAt(whole.resourceVersion), isPaged: true };
  }

  #listAt(resourceVersion: string): FullList {
    return { objects: this.#objects, size: this.#size, resourceVersion };
  }

  #addPage({ items }: ListPage): void {
    this.#place.progress();
    for (const item of items) this.#add(item);
  }

  #add(object: KubernetesObject): void {
    const key = objectKey(object);
    this.#remove(key);
    this.#size += objectSize(object);
    this.#budget.assertFits(this.#size);
    this.#objects.set(key, object);
  }

  #remove(key: string): void {
    const present = this.#objects.get(key);
    if (present === undefined) return;
    this.#size -= objectSize(present);
    this.#objects.delete(key);
  }
}

/** A page after the first; `undefined` when the server does not have it any more. */
async function nextPage(source: ReflectorSource, options: ListOptions): Promise<ListPage | undefined> {
  try {
    return await source.list(options);
  } catch (error) {
    if (error instanceof ExpiredError) return undefined;
    throw error;
  }
}
