import { AtollError, Backoff, objectKey } from '../kernel/index.ts';
import type { Clock, KubernetesObject, Random } from '../kernel/index.ts';
import {
  ExpiredError,
  KindNotFoundError,
  ResourceVersionTooLargeError,
  TooManyRequestsError,
  UnauthorizedError,
  UnreachableError,
} from '../kubernetes/index.ts';
import type { ListOptions, ListPage, WatchEvent, WatchOptions } from '../kubernetes/index.ts';
import { IdleLimit } from './idle-limit.ts';

/** The objects of one kind and scope at a server. */
export interface ReflectorSource {
  list(options: ListOptions): Promise<ListPage>;
  watch(options: WatchOptions): AsyncIterable<WatchEvent>;
}

/** What a reflector keeps current. */
export interface ReflectorTarget {
  /** These are all objects that there are. */
  replace(objects: readonly KubernetesObject[]): void;
  /** One object was added, modified or deleted. */
  change(event: WatchEvent): void;
  /** The server said something: what is here is as fresh as can be. */
  heard(): void;
  /** Listing or watching failed; it is tried again. */
  failed(error: Error): void;
}

/** Options of {@link Reflector}. */
export interface ReflectorOptions {
  readonly source: ReflectorSource;
  readonly target: ReflectorTarget;
  readonly clock: Clock;
  readonly random: Random;
}

/** A watch on which nothing came for {@link IDLE_LIMIT}, not even a bookmark. */
export class WatchIdleError extends AtollError {
  override name = 'WatchIdleError';
}

/** A watch that ended without an event right after it began, or a streamed list that ended before its end. */
export class WatchCutShortError extends AtollError {
  override name = 'WatchCutShortError';
}

/** A server sends bookmarks about every minute: a watch that is silent for longer is half-open. */
const IDLE_LIMIT = 90_000;
/** The server ends each watch after a random time in [5, 10] minutes, so that watches spread over its replicas. */
const MIN_WATCH_SECONDS = 300;
const SHORT_WATCH = 1000;
const PAGE_SIZE = 500;
const BACKOFF = { base: 800, max: 30_000, factor: 2, jitter: 1 };
const BACKOFF_RESET = 120_000;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** The whole of a list, whatever the number of pages. */
interface FullList {
  readonly objects: readonly KubernetesObject[];
  readonly resourceVersion: string;
}

/**
 * Keeps a target equal to what a server has, by client-go's rules:
 *
 * ```
 *            ┌────────────── backoff ◀─────────────────────────────────────────────┐
 *            ▼                                                                      │ any other failure
 *    streamed list ──ok──▶ same stream goes on ──┐                                  │
 *            │ not supported                      ├──▶ watching ── ended by server ──┼─▶ watch from last version
 *            └──▶ paged list ──▶ watch ──────────┘        │                          │
 *                                                          └─ unreachable, 429 ─ backoff ─▶ watch from last version
 * ```
 */
export class Reflector {
  readonly #source: ReflectorSource;
  readonly #target: ReflectorTarget;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backoff: Backoff;
  #pausedAt = Number.NEGATIVE_INFINITY;
  #pause = new AbortController();
  /** Of the last list, event or bookmark. */
  #resourceVersion: string | undefined;
  /** The server said that it cannot serve {@link #resourceVersion}: the next list asks for the newest state. */
  #isVersionUnavailable = false;
  /** The server pages also where a watch cache would not: it has none, so paging is kept. */
  #isPaging = false;
  #isIdle = false;

  constructor(options: ReflectorOptions) {
    this.#source = options.source;
    this.#target = options.target;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#backoff = new Backoff(BACKOFF, options.random);
  }

  /** Tries again at once, should it be waiting to: what it waits for may be over. A wait that a server asked for goes on. */
  wake(): void {
    this.#backoff.reset();
    this.#pause.abort();
  }

  /** Lists and watches until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#listAndWatch(signal);
      } catch (error) {
        await this.#recover(error, signal);
      }
    }
  }

  /** Returns when the signal aborts, and throws what only a new list can answer. */
  async #listAndWatch(signal: AbortSignal): Promise<void> {
    let events = await this.#streamList(signal);
    if (!events) await this.#list(signal);
    while (!signal.aborted) {
      try {
        await this.#follow(events ?? this.#watch({}, signal), signal);
      } catch (error) {
        if (!this.#canResume(error)) throw error;
        await this.#recover(error, signal);
      }
      events = undefined;
    }
  }

  /** Notes a failure and waits before the next try, at least as long as the server asked for. */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#target.failed(asError(error));
    const now = this.#clock.monotonic();
    if (now - this.#pausedAt > BACKOFF_RESET) this.#backoff.reset();
    this.#pausedAt = now;
    const asked = error instanceof TooManyRequestsError ? error.retryAfterSeconds * 1000 : 0;
    this.#pause = new AbortController();
    const end = asked > 0 ? signal : AbortSignal.any([signal, this.#pause.signal]);
    await this.#clock.sleep(Math.max(this.#backoff.next(), asked), end);
  }

  /**
   * Whether the watch can go on from the last version. An idle watch can, once: a second one in a row may watch a version
   * that the server has never seen (its storage was restored), which it would do silently for ever.
   */
  #canResume(error: unknown): boolean {
    if (!(error instanceof WatchIdleError)) {
      return error instanceof UnreachableError || error instanceof TooManyRequestsError;
    }
    const wasIdle = this.#isIdle;
    this.#isIdle = true;
    return !wasIdle;
  }

  /**
   * Lists by watching: the server sends all objects, then a mark, then changes. Answers the stream, to go on with it;
   * `undefined` when the server does not do that.
   */
  async #streamList(signal: AbortSignal): Promise<AsyncGenerator<WatchEvent, void> | undefined> {
    const events = this.#watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }, signal);
    try {
      this.#replace(await readInitialEvents(events));
      return events;
    } catch (error) {
      await events.return();
      if (isVersionUnavailable(error)) this.#isVersionUnavailable = true;
      if (signal.aborted || isVersionUnavailable(error) || isOfAnyRequest(error)) throw error;
      this.#target.failed(asError(error));
      return undefined;
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const resourceVersion = this.#isVersionUnavailable ? '' : (this.#resourceVersion ?? '0');
    try {
      this.#replace(await this.#readPages(resourceVersion, signal));
    } catch (error) {
      if (!isVersionUnavailable(error) || resourceVersion === '') throw error;
      this.#isVersionUnavailable = true;
      this.#replace(await this.#readPages('', signal));
    }
  }

  /** A list at a certain version is served from the watch cache and whole; at "" it comes from etcd, in pages. */
  async #readPages(resourceVersion: string, signal: AbortSignal): Promise<FullList> {
    const isPaged = this.#isPaging || resourceVersion === '' || resourceVersion === '0';
    const first = await this.#source.list({ resourceVersion, ...(isPaged && { limit: PAGE_SIZE }), signal });
    if (first.continue !== undefined && resourceVersion === '0') this.#isPaging = true;
    const objects = [...first.items];
    let next = first.continue;
    while (next !== undefined) {
      try {
        const page = await this.#source.list({ limit: PAGE_SIZE, continue: next, signal });
        objects.push(...page.items);
        next = page.continue;
      } catch (error) {
        if (!(error instanceof ExpiredError)) throw error;
        const { items, resourceVersion: version } = await this.#source.list({ resourceVersion, signal });
        return { objects: items, resourceVersion: version };
      }
    }
    return { objects, resourceVersion: first.resourceVersion };
  }

  #replace({ objects, resourceVersion }: FullList): void {
    this.#target.replace(objects);
    this.#resourceVersion = resourceVersion;
    this.#isVersionUnavailable = false;
    this.#isIdle = false;
    this.#target.heard();
  }

  /** Takes events until the server ends the watch. */
  async #follow(events: AsyncIterable<WatchEvent>, signal: AbortSignal): Promise<void> {
    const startedAt = this.#clock.monotonic();
    let count = 0;
    for await (const event of events) {
      count += 1;
      this.#isIdle = false;
      if (event.type !== 'BOOKMARK') this.#target.change(event);
      this.#resourceVersion = event.object.metadata.resourceVersion ?? this.#resourceVersion;
      this.#target.heard();
    }
    if (count > 0 || signal.aborted || this.#clock.monotonic() - startedAt >= SHORT_WATCH) return;
    throw new WatchCutShortError('the server ended the watch at once');
  }

  /** Watches from the last version; throws WatchIdleError when nothing comes for too long. */
  async *#watch(options: Partial<WatchOptions>, signal: AbortSignal): AsyncGenerator<WatchEvent, void> {
    const cut = new AbortController();
    const idle = new IdleLimit(this.#clock, IDLE_LIMIT, () => cut.abort());
    const resourceVersion = this.#isVersionUnavailable ? '' : (this.#resourceVersion ?? '');
    const watch = this.#source.watch({
      resourceVersion,
      allowWatchBookmarks: true,
      timeoutSeconds: Math.floor(MIN_WATCH_SECONDS * (1 + this.#random())),
      onOpen: () => this.#target.heard(),
      ...options,
      signal: AbortSignal.any([signal, cut.signal]),
    });
    try {
      for await (const event of watch) {
        idle.heard();
        yield event;
      }
    } finally {
      idle.stop();
    }
    if (cut.signal.aborted) throw new WatchIdleError(`nothing was heard for ${IDLE_LIMIT / 1000} s`);
  }
}

/** Reads a streamed list up to its end mark. Objects may already change while it is read. */
async function readInitialEvents(events: AsyncGenerator<WatchEvent, void>): Promise<FullList> {
  const objects = new Map<string, KubernetesObject>();
  for (let next = await events.next(); next.done !== true; next = await events.next()) {
    const { type, object } = next.value;
    const { annotations, resourceVersion } = object.metadata;
    if (type === 'DELETED') objects.delete(objectKey(object));
    else if (type !== 'BOOKMARK') objects.set(objectKey(object), object);
    else if (annotations?.[INITIAL_EVENTS_END] === 'true' && resourceVersion !== undefined) {
      return { objects: [...objects.values()], resourceVersion };
    }
  }
  throw new WatchCutShortError('the server ended the streamed list before its end mark');
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function isVersionUnavailable(error: unknown): boolean {
  return error instanceof ExpiredError || error instanceof ResourceVersionTooLargeError;
}

/** Failures that a paged list would meet as well. Any other may be due to the streamed list: the paged one is tried. */
function isOfAnyRequest(error: unknown): boolean {
  return [
    UnreachableError,
    TooManyRequestsError,
    UnauthorizedError,
    KindNotFoundError,
    WatchIdleError,
    WatchCutShortError,
  ].some((type) => error instanceof type);
}
