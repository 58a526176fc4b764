import type { Cancel, Clock } from '../../kernel/index.ts';

/** What a call is, for its share of the budget. */
export type Lane = 'lease' | 'write' | 'read' | 'list' | 'watch';

/** How much of one API server a client may take. */
export interface RequestLimits {
  /** Requests at a time. */
  readonly inFlight: number;
  /** Requests a second in the long run. */
  readonly perSecond: number;
  /** How many requests may come at once after a quiet time. */
  readonly burst: number;
}

/** A place in the budget. */
export interface Place {
  /** The server took the call: a pause that this call was to try is over. */
  readonly answered: () => void;
  /** Gives the place back. A second time does nothing. */
  readonly leave: () => void;
}

/** Lanes that are paused together. */
export type PauseGroup = 'lease' | 'other';

/**
 * 32 at a time is enough for a worker pool and its informers' lists, and few for a small API server (its default is 400
 * for all). 1,000 a second is more than a thread of Node gets out of an API server on two cores (600 applies), so it
 * never slows down work, and bounds what a mistake in a loop can do.
 */
export const DEFAULT_LIMITS: RequestLimits = { inFlight: 32, perSecond: 1000, burst: 2000 };

interface Queue {
  /** Those who wait, each with how it is let in. */
  readonly waiting: Set<(place: Place) => void>;
  readonly weight: number;
  held: number;
  /** What the lane has had, in units of its weight: the lane that had least is next. */
  had: number;
}

/** A server's wish to be left alone, and whether a first call is finding out whether it is over. */
interface Pause {
  until: number;
  isProbing: boolean;
}

const LANES = ['lease', 'write', 'read', 'list', 'watch'] as const;

/**
 * The requests that one API server gets from one client: how many at a time, how many a second, and none while the server
 * asks to be left alone.
 *
 * Lanes share it by weight (writes 4, reads 2, lists and watches 1), in a lane first come is first served. Lists hold a
 * quarter of the places at most, and so do watches, which have one while they are opened; these and reads hold three
 * quarters, writes all but those of leases: however many hang, there is room for a read and a write. Leases go first, need no token, and are paused by a server's refusal of a lease only.
 *
 * A pause ends with one call alone; the others follow when the server has not refused that one too.
 */
export class RequestBudget {
  readonly #clock: Clock;
  readonly #limits: () => RequestLimits;
  readonly #queues: Readonly<Record<Lane, Queue>> = {
    lease: newQueue(1),
    write: newQueue(4),
    read: newQueue(2),
    list: newQueue(1),
    watch: newQueue(1),
  };
  readonly #pauses = { lease: newPause(), other: newPause() };
  #tokens: number;
  #countedAt: number;
  #wake: Cancel = () => undefined;

  /** @param limits asked each time, for they may change while the client lives */
  constructor(clock: Clock, limits: () => RequestLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#tokens = limits().burst;
    this.#countedAt = clock.monotonic();
  }

  /** Waits for a turn. @throws the signal's reason when it aborts before */
  async enter(lane: Lane, signal: AbortSignal): Promise<Place> {
    signal.throwIfAborted();
    const { waiting } = this.#queues[lane];
    const { promise, resolve, reject } = Promise.withResolvers<Place>();
    const leave = (): void => {
      waiting.delete(admit);
      reject(signal.reason as Error);
    };
    const admit = (place: Place): void => {
      signal.removeEventListener('abort', leave);
      resolve(place);
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#catchUp(lane);
    waiting.add(admit);
    this.#admit();
    return promise;
  }

  /** The server asks for so many milliseconds without calls. */
  pause(lane: Lane, milliseconds: number): void {
    const pause = this.#pauseOf(lane);
    pause.until = Math.max(pause.until, this.#clock.monotonic() + milliseconds);
    pause.isProbing = false;
  }

  /** Milliseconds for which the server shall still be left alone. */
  pausedFor(lane: Lane): number {
    return Math.max(0, this.#pauseOf(lane).until - this.#clock.monotonic());
  }

  /** Lets in whoever may come now, and comes back when time alone lets in the next. */
  #admit(): void {
    const limits = this.#limits();
    this.#wake();
    this.#count(limits);
    for (let lane = this.#next(limits); lane !== undefined; lane = this.#next(limits)) {
      const queue = this.#queues[lane];
      const [admit] = queue.waiting;
      if (admit === undefined) return;
      queue.waiting.delete(admit);
      queue.held += 1;
      queue.had += 1 / queue.weight;
      if (lane !== 'lease') this.#tokens -= 1;
      admit(this.#place(lane));
    }
    const waiting = LANES.filter((lane) => this.#queues[lane].waiting.size > 0);
    const waits = waiting.map((lane) => this.#timeUntil(lane, limits)).filter((milliseconds) => milliseconds > 0);
    const wait = Math.min(...waits);
    if (Number.isFinite(wait)) this.#wake = this.#clock.after(Math.ceil(wait), () => this.#admit());
  }

  #place(lane: Lane): Place {
    const pause = this.#pauseOf(lane);
    const isProbe = pause.until > Number.NEGATIVE_INFINITY;
    pause.isProbing = isProbe;
    let isHeld = true;
    const answered = (): void => {
      if (!isProbe || !pause.isProbing) return;
      pause.isProbing = false;
      pause.until = Number.NEGATIVE_INFINITY;
      this.#admit();
    };
    const leave = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#queues[lane].held -= 1;
      answered();
      this.#admit();
    };
    return { answered, leave };
  }

  /** The lane whose turn it is, of those in which someone waits and nothing stands in the way. */
  #next(limits: RequestLimits): Lane | undefined {
    const ready = LANES.filter((lane) => {
      return this.#queues[lane].waiting.size > 0 && this.#hasRoom(lane, limits) && this.#timeUntil(lane, limits) === 0;
    });
    if (ready.includes('lease')) return 'lease';
    return ready.toSorted((one, other) => this.#queues[one].had - this.#queues[other].had)[0];
  }

  #hasRoom(lane: Lane, { inFlight }: RequestLimits): boolean {
    const { lease, write, read, list, watch } = this.#queues;
    const reading = read.held + list.held + watch.held;
    const all = reading + write.held;
    const isStreaming = lane === 'list' || lane === 'watch';
    const isReading = lane === 'read' || isStreaming;
    if (this.#pauseOf(lane).isProbing) return false;
    if (isStreaming && this.#queues[lane].held >= share(inFlight, 1 / 4)) return false;
    if (isReading && reading >= share(inFlight, 3 / 4)) return false;
    if (lane !== 'lease' && all >= share(inFlight, 15 / 16)) return false;
    return all + lease.held < inFlight;
  }

  /** Milliseconds until neither a pause nor the rate forbids a call. */
  #timeUntil(lane: Lane, { perSecond }: RequestLimits): number {
    const missing = lane === 'lease' ? 0 : Math.max(0, 1 - this.#tokens);
    return Math.max(this.pausedFor(lane), (missing * 1000) / perSecond);
  }

  #count({ perSecond, burst }: RequestLimits): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#countedAt) * perSecond) / 1000);
    this.#countedAt = now;
  }

  /** A lane that was idle has no claim to what it did not use meanwhile. */
  #catchUp(lane: Lane): void {
    const queue = this.#queues[lane];
    if (queue.waiting.size > 0) return;
    const others = LANES.map((other) => this.#queues[other]).filter(({ waiting }) => waiting.size > 0);
    if (others.length > 0) queue.had = Math.max(queue.had, Math.min(...others.map(({ had }) => had)));
  }

  #pauseOf(lane: Lane): Pause {
    return this.#pauses[pauseGroupOf(lane)];
  }
}

/** A server that refuses other calls may still have time for leases, and is asked for little by them. */
export function pauseGroupOf(lane: Lane): PauseGroup {
  return lane === 'lease' ? 'lease' : 'other';
}

function newQueue(weight: number): Queue {
  return { waiting: new Set(), weight, held: 0, had: 0 };
}

function newPause(): Pause {
  return { until: Number.NEGATIVE_INFINITY, isProbing: false };
}

/** A part of the places, rounded down, and one at least. */
function share(places: number, part: number): number {
  return Math.max(1, Math.floor(places * part));
}
