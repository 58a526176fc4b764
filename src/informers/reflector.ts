import { Backoff } from '../kernel/index.ts';
import type { Clock, Random } from '../kernel/index.ts';
import {
  ApiError,
  BadRequestError,
  ExpiredError,
  KindNotFoundError,
  ResourceVersionTooLargeError,
  TooManyRequestsError,
  UnauthorizedError,
  UnreachableError,
} from '../kubernetes/index.ts';
import type { WatchEvent, WatchOptions } from '../kubernetes/index.ts';
import { IdleLimit } from './idle-limit.ts';
import { MemoryLimitError, ServerBehindError, WatchCutShortError, WatchIdleError } from './informer-errors.ts';
import type { ListLimit, ListPlace } from './list-limit.ts';
import { ListReader } from './list-reader.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { FullList, ReflectorSource, ReflectorTarget } from './reflector-source.ts';
import { compareResourceVersions } from './resource-version.ts';

/** Options of {@link Reflector}; durations in milliseconds. */
export interface ReflectorOptions {
  readonly cluster: string;
  readonly source: ReflectorSource;
  readonly target: ReflectorTarget;
  readonly clock: Clock;
  readonly random: Random;
  readonly listLimit: ListLimit;
  readonly budget: MemoryBudget;
  /** The first list waits for up to this time at random. Default none. */
  readonly startJitter?: number | undefined;
  /** Lists are read in pages of this many objects, also where the server could send all from its cache. */
  readonly pageSize?: number | undefined;
  /** The server ends each watch after between this time and twice as long. Default, and least, 5 min. */
  readonly minWatchTime?: number | undefined;
}

/** A server sends bookmarks about every minute: a watch that is silent for longer is half-open. */
const IDLE_LIMIT = 90_000;
/** Watches end after a random time in [5, 10] minutes, so that they spread over a server's replicas. */
const MIN_WATCH_TIME = 300_000;
const SHORT_WATCH = 1000;
const PAGE_SIZE = 500;
const BACKOFF = { base: 800, max: 30_000, factor: 2, jitter: 1 };
const BACKOFF_RESET = 120_000;
/** For how long a watch that meets errors of the server itself is only tried again, before it is listed again. */
const INTERNAL_ERROR_RETRY = 30_000;
/** No server can send an informer to sleep for longer, whatever it asks for. */
const MAX_ASKED_PAUSE = 300_000;

/**
 * Keeps a target equal to what a server has, by client-go's rules:
 *
 * ```
 *            ┌────────────── backoff ◀───────────────────────────────────────────────┐
 *            ▼                                                                        │ any other failure
 *    place in the list limit                                                          │
 *            │                                                                        │
 *    streamed list ──ok──▶ same stream goes on ──┐                                    │
 *            │ any failure that only it has       ├──▶ watching ── ended by server ──┬─┤
 *            └──▶ paged list ──▶ watch ──────────┘        │                         │ server is behind
 *                                     ▲                    └─ unreachable, idle,     │
 *                                     │                       429, 5xx ── backoff ──┤
 *                                     └──── from the last version ◀── is the server  ◀┘
 *                                                                     behind it?
 * ```
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #backoff: Backoff;
  #pausedAt = Number.NEGATIVE_INFINITY;
  #pause = new AbortController();
  /** Of the last list, event or bookmark. */
  #resourceVersion: string | undefined;
  /** The server said that it cannot serve {@link #resourceVersion}: the next list asks for the newest state. */
  #isVersionUnavailable = false;
  /** The server pages also where a watch cache would not: it has none, so paging is kept. */
  #isPaging = false;
  /** The last watch was cut for being silent, and nothing was heard since. */
  #isIdle = false;
  /** The server's versions are no numbers, so that nobody can say whether it is behind. */
  #isIncomparable = false;
  /** Since when the server answers watches with errors of its own. */
  #failingSince: number | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#backoff = new Backoff(BACKOFF, options.random);
  }

  /** Tries again at once, should it be waiting to: what it waits for may be over. A wait that a server asked for goes on. */
  wake(): void {
    this.#backoff.reset();
    this.#pause.abort();
  }

  /** Lists and watches until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, startJitter = 0 } = this.#options;
    if (startJitter > 0) await clock.sleep(startJitter * random(), signal);
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
    const stream = await this.#list(signal);
    try {
      let watch = (): Promise<unknown> =>
        stream ? this.#follow(stream) : this.#followNew(this.#watch({}, signal), signal);
      while (!signal.aborted) {
        await this.#resumable(watch, signal);
        watch = () => this.#followNew(this.#watchAgain(signal), signal);
      }
    } finally {
      await stream?.return();
    }
  }

  /** Watches, and waits after a failure after which the watch can go on from the last version. */
  async #resumable(watch: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
    try {
      await watch();
    } catch (error) {
      if (!this.#canResume(error)) throw error;
      await this.#recover(error, signal);
    }
  }

  /** Notes a failure and waits before the next try, at least as long as the server asked for. */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { target, clock } = this.#options;
    target.failed(asError(error));
    const now = clock.monotonic();
    if (now - this.#pausedAt > BACKOFF_RESET) this.#backoff.reset();
    this.#pausedAt = now;
    const asked = error instanceof TooManyRequestsError ? error.retryAfterSeconds * 1000 : 0;
    this.#pause = new AbortController();
    const end = asked > 0 ? signal : AbortSignal.any([signal, this.#pause.signal]);
    await clock.sleep(Math.max(this.#backoff.next(), Math.min(asked, MAX_ASKED_PAUSE)), end);
  }

  /** Whether the watch can go on from the last version. */
  #canResume(error: unknown): boolean {
    if (error instanceof WatchIdleError) return this.#canResumeIdle();
    if (isServerError(error)) {
      const now = this.#options.clock.monotonic();
      this.#failingSince ??= now;
      return now - this.#failingSince < INTERNAL_ERROR_RETRY;
    }
    return error instanceof UnreachableError || error instanceof TooManyRequestsError;
  }

  /**
   * A silent watch may be one of a version that the server has never seen (its storage was restored), and would be silent
   * for ever. Where versions cannot be compared, the second silence in a row is taken for that.
   */
  #canResumeIdle(): boolean {
    const wasIdle = this.#isIdle;
    this.#isIdle = true;
    return !wasIdle || !this.#isIncomparable;
  }

  /** The watch from the last version, if the server is at least there. */
  async *#watchAgain(signal: AbortSignal): AsyncGenerator<WatchEvent, void> {
    await this.#assertNotBehind(signal);
    yield* this.#watch({}, signal);
  }

  /** A server that was restored from a backup accepts a watch of a version that it has not reached, and says nothing. */
  async #assertNotBehind(signal: AbortSignal): Promise<void> {
    const newest = await this.#options.source.newestVersion(signal);
    const order = compareResourceVersions(newest, this.#resourceVersion ?? '');
    this.#isIncomparable = order === undefined;
    if (order === undefined || order >= 0) return;
    this.#isVersionUnavailable = true;
    throw new ServerBehindError(`the server is at version ${newest}, and was at ${this.#resourceVersion} before`);
  }

  /** Reads everything anew, when it is this list's turn. Answers the stream of changes that follows, if there is one. */
  async #list(signal: AbortSignal): Promise<AsyncGenerator<WatchEvent, void> | undefined> {
    const place = await this.#options.listLimit.enter(this.#options.cluster, signal);
    try {
      if (signal.aborted) return undefined;
      const events = await this.#streamList(place, signal);
      if (!events) await this.#listPages(place, signal);
      return events;
    } finally {
      place.release();
    }
  }

  /**
   * Lists by watching: the server sends all objects, then a mark, then changes. Answers the stream, to go on with it;
   * `undefined` when the server does not do that.
   */
  async #streamList(place: ListPlace, signal: AbortSignal): Promise<AsyncGenerator<WatchEvent, void> | undefined> {
    const { target, budget } = this.#options;
    const events = this.#watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }, signal);
    try {
      await this.#replace(await new ListReader(budget, place).readStream(events));
      return events;
    } catch (error) {
      await events.return();
      // A server that is behind may also say nothing at all.
      if (isVersionUnavailable(error) || error instanceof WatchIdleError) this.#isVersionUnavailable = true;
      if (signal.aborted || isVersionUnavailable(error) || isOfAnyRequest(error)) throw error;
      target.failed(asError(error));
      return undefined;
    }
  }

  async #listPages(place: ListPlace, signal: AbortSignal): Promise<void> {
    const resourceVersion = this.#isVersionUnavailable ? '' : (this.#resourceVersion ?? '0');
    try {
      await this.#replace(await this.#readPages(resourceVersion, place, signal));
    } catch (error) {
      // A version that some event bore, and that is none to the server, would be refused for ever.
      const isVersionRefused = isVersionUnavailable(error) || error instanceof BadRequestError;
      if (!isVersionRefused || resourceVersion === '') throw error;
      this.#isVersionUnavailable = true;
      await this.#replace(await this.#readPages('', place, signal));
    }
  }

  /** A list at a certain version is served from the watch cache and whole; at "" it comes from etcd, in pages. */
  async #readPages(resourceVersion: string, place: ListPlace, signal: AbortSignal): Promise<FullList> {
    const { source, budget, pageSize } = this.#options;
    const isPaged = pageSize !== undefined || this.#isPaging || resourceVersion === '' || resourceVersion === '0';
    const size = pageSize ?? PAGE_SIZE;
    const request = { resourceVersion, limit: isPaged ? size : undefined, pageSize: size, signal };
    const list = await new ListReader(budget, place).readPages(source, request);
    if (list.isPaged && resourceVersion === '0') this.#isPaging = true;
    return list;
  }

  async #replace(list: FullList): Promise<void> {
    const order = compareResourceVersions(list.resourceVersion, this.#resourceVersion ?? '');
    const isRewound = order !== undefined && order < 0;
    await this.#options.target.replace(list, isRewound);
    this.#resourceVersion = list.resourceVersion;
    this.#isVersionUnavailable = false;
    this.#isIdle = false;
    this.#options.target.heard();
  }

  /** Takes events until the server ends the watch. Answers how many. */
  async #follow(events: AsyncIterable<WatchEvent>): Promise<number> {
    let count = 0;
    for await (const event of events) {
      count += 1;
      this.#take(event);
    }
    this.#failingSince = undefined;
    return count;
  }

  /**
   * Follows a watch that has said nothing yet. A server that ends it at once, and may do so again and again, is asked once a
   * second. @throws WatchCutShortError when it ended without a word
   */
  async #followNew(events: AsyncIterable<WatchEvent>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const startedAt = clock.monotonic();
    const count = await this.#follow(events);
    const missing = SHORT_WATCH - (clock.monotonic() - startedAt);
    if (signal.aborted || missing <= 0) return;
    if (count === 0) throw new WatchCutShortError('the server ended the watch at once');
    await clock.sleep(missing, signal);
  }

  #take(event: WatchEvent): void {
    const { target } = this.#options;
    const { resourceVersion } = event.object.metadata;
    this.#isIdle = false;
    this.#failingSince = undefined;
    if (event.type !== 'BOOKMARK') target.change(event);
    else if (resourceVersion !== undefined) target.bookmark(resourceVersion);
    this.#resourceVersion = resourceVersion ?? this.#resourceVersion;
    target.heard();
  }

  /** Watches from the last version; throws WatchIdleError when nothing comes for too long. */
  async *#watch(options: Partial<WatchOptions>, signal: AbortSignal): AsyncGenerator<WatchEvent, void> {
    const { source, target, clock, random, minWatchTime = 0 } = this.#options;
    const cut = new AbortController();
    const idle = new IdleLimit(clock, IDLE_LIMIT, () => cut.abort());
    const resourceVersion = this.#isVersionUnavailable ? '' : (this.#resourceVersion ?? '');
    const watch = source.watch({
      resourceVersion,
      allowWatchBookmarks: true,
      timeoutSeconds: Math.floor((Math.max(minWatchTime, MIN_WATCH_TIME) * (1 + random())) / 1000),
      onOpen: () => target.heard(),
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

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function isVersionUnavailable(error: unknown): boolean {
  return error instanceof ExpiredError || error instanceof ResourceVersionTooLargeError;
}

/** Somebody removed by force what the storage could not read: no event tells of it, at whatever version. */
const STORE_READ_ERROR = 'StoreReadError';

/** The server failed, which says nothing of the request. */
function isServerError(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.reason === STORE_READ_ERROR) return false;
  return (error.status ?? 0) >= 500 && !isVersionUnavailable(error);
}

/** Failures that a paged list would meet as well. Any other may be due to the streamed list: the paged one is tried. */
function isOfAnyRequest(error: unknown): boolean {
  return [
    UnreachableError,
    TooManyRequestsError,
    UnauthorizedError,
    KindNotFoundError,
    MemoryLimitError,
    WatchIdleError,
    WatchCutShortError,
  ].some((type) => error instanceof type);
}
