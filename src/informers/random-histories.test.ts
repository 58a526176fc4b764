import { array, assert, asyncProperty, boolean, constant, constantFrom, integer, oneof, record } from 'fast-check';
import type { MaybeWeightedArbitrary } from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noMetrics, silentLogger, systemClock } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import {
  BadRequestError,
  ExpiredError,
  ResourceVersionTooLargeError,
  TooManyRequestsError,
  UnexpectedAnswerError,
  UnreachableError,
} from '../kubernetes/index.ts';
import type { ListOptions, ListPage, WatchEvent, WatchOptions } from '../kubernetes/index.ts';
import { Informer } from './informer.ts';
import { informerCounters } from './informer-metrics.ts';
import { ListLimit } from './list-limit.ts';
import { MemoryBudget } from './memory-budget.ts';
import type { ReflectorSource } from './reflector-source.ts';
import type { EventHandler } from './shared-informer.ts';

const FAULTS = {
  unreachable: new UnreachableError('gone', 'ECONNRESET'),
  expired: new ExpiredError('too old', { status: 410 }),
  malformed: new UnexpectedAnswerError('what is this'),
  throttled: new TooManyRequestsError('slowly', 2),
  closed: undefined,
};
type Fault = keyof typeof FAULTS;

interface Snapshot {
  readonly version: number;
  readonly objects: ReadonlyMap<string, KubernetesObject>;
  readonly log: readonly WatchEvent[];
}

/** An API server in memory, with a log of what happened, which may be cut, and a storage that may be put back. */
class MemoryServer implements ReflectorSource {
  readonly streamsLists: boolean;
  /** What all requests meet with; undefined while all is well. */
  fault: Fault | undefined;
  #version = 10;
  #objects = new Map<string, KubernetesObject>();
  #log: WatchEvent[] = [];
  #compacted = 0;
  #news = Promise.withResolvers<void>();
  #era = 0;
  #uids = 0;

  constructor(streamsLists: boolean) {
    this.streamsLists = streamsLists;
  }

  get objects(): ReadonlyMap<string, KubernetesObject> {
    return this.#objects;
  }

  set(name: string, isAnother: boolean): void {
    const previous = this.#objects.get(name);
    if (previous && isAnother) this.delete(name);
    const before = this.#objects.get(name);
    this.#version += 1;
    this.#uids += 1;
    const uid = before?.metadata.uid ?? `uid-${this.#uids}`;
    // The serial number tells apart what has the same version before and after the storage was put back.
    const metadata = { name, uid, resourceVersion: String(this.#version), serial: this.#uids };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    this.#objects.set(name, object);
    this.#happened({ type: before ? 'MODIFIED' : 'ADDED', object });
  }

  delete(name: string): void {
    const object = this.#objects.get(name);
    if (object === undefined) return;
    this.#version += 1;
    this.#objects.delete(name);
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    this.#happened({ type: 'DELETED', object: { ...object, metadata } });
  }

  /** Forgets what happened so far: nobody can go on from before. */
  compact(): void {
    this.#compacted = this.#version;
    this.#log = [];
  }

  snapshot(): Snapshot {
    return { version: this.#version, objects: new Map(this.#objects), log: [...this.#log] };
  }

  /** Puts the storage back; what was connected is not any more. */
  restore({ version, objects, log }: Snapshot): void {
    this.#version = version;
    this.#objects = new Map(objects);
    this.#log = [...log];
    this.breakWatches();
  }

  /** Ends all watches, by the fault that there is or normally. */
  breakWatches(): void {
    this.#era += 1;
    this.#wake();
  }

  async newestVersion(): Promise<string> {
    this.#failWhenFaulty();
    return String(this.#version);
  }

  async list({ resourceVersion = '', limit, continue: token }: ListOptions): Promise<ListPage> {
    this.#failWhenFaulty();
    if (Number(resourceVersion) > this.#version) throw new ResourceVersionTooLargeError('too large', { status: 504 });
    const items = [...this.#objects.values()];
    const [from = '0', version = String(this.#version)] = token?.split('@') ?? [];
    const to = limit === undefined || resourceVersion === '0' ? items.length : Number(from) + Math.min(limit, 3);
    return {
      items: items.slice(Number(from), to),
      resourceVersion: version,
      ...(to < items.length && { continue: `${to}@${version}` }),
    };
  }

  async *watch({ resourceVersion = '', sendInitialEvents, signal }: WatchOptions): AsyncGenerator<WatchEvent, void> {
    this.#failWhenFaulty();
    const era = this.#era;
    signal.addEventListener('abort', () => this.#wake(), { once: true });
    if (sendInitialEvents !== true) yield* this.#follow(Number(resourceVersion), era, signal);
    else {
      const version = this.#version;
      yield* this.#initialEvents(Number(resourceVersion));
      yield* this.#follow(version, era, signal);
    }
  }

  *#initialEvents(atLeast: number): Generator<WatchEvent, void> {
    if (!this.streamsLists) throw new BadRequestError('no streamed lists here', { status: 400 });
    if (atLeast > this.#version) throw new ResourceVersionTooLargeError('too large', { status: 504 });
    const end = bookmark(this.#version, { 'k8s.io/initial-events-end': 'true' });
    for (const object of this.#objects.values()) yield { type: 'ADDED', object };
    yield end;
  }

  async *#follow(version: number, era: number, signal: AbortSignal): AsyncGenerator<WatchEvent, void> {
    let seen = version;
    while (!signal.aborted && this.#era === era) {
      if (seen < this.#compacted) throw FAULTS.expired;
      const next = this.#log.find(({ object }) => Number(object.metadata.resourceVersion) > seen);
      if (next === undefined) await this.#news.promise;
      else {
        seen = Number(next.object.metadata.resourceVersion);
        yield next;
      }
    }
    if (!signal.aborted) this.#failWhenFaulty();
  }

  #happened(event: WatchEvent): void {
    this.#log.push(event);
    this.#wake();
  }

  #wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  #failWhenFaulty(): void {
    const error = this.fault === undefined ? undefined : FAULTS[this.fault];
    if (error !== undefined) throw error;
  }
}

function bookmark(version: number, annotations: Record<string, string>): WatchEvent {
  const metadata = { resourceVersion: String(version), annotations };
  return { type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata } };
}

/** What a handler believes that there is. It is told nothing that contradicts what it was told before. */
class View implements EventHandler {
  readonly objects = new Map<string, KubernetesObject>();
  readonly #milliseconds: number;

  /** @param milliseconds how long it takes for each notification */
  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  onAdd(object: KubernetesObject): Promise<void> | undefined {
    expect(this.objects.has(object.metadata.name ?? '')).toBe(false);
    return this.#see(object);
  }

  onUpdate(previous: KubernetesObject, object: KubernetesObject): Promise<void> | undefined {
    expect(this.objects.get(object.metadata.name ?? '')).toEqual(previous);
    return this.#see(object);
  }

  onDelete({ metadata }: KubernetesObject): Promise<void> | undefined {
    expect(this.objects.get(metadata.name ?? '')?.metadata.uid).toBe(metadata.uid);
    this.objects.delete(metadata.name ?? '');
    return this.#done();
  }

  #see(object: KubernetesObject): Promise<void> | undefined {
    this.objects.set(object.metadata.name ?? '', object);
    return this.#done();
  }

  #done(): Promise<void> | undefined {
    return this.#milliseconds === 0 ? undefined : systemClock.sleep(this.#milliseconds);
  }
}

type Step =
  | { readonly what: 'set' | 'recreate' | 'delete'; readonly name: string }
  | { readonly what: 'wait'; readonly seconds: number }
  | { readonly what: 'fault'; readonly fault: Fault }
  | { readonly what: 'heal' | 'compact' | 'snapshot' | 'restore' | 'listen' };

const name = constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const fault = constantFrom<Fault[]>('unreachable', 'expired', 'malformed', 'throttled', 'closed');
const step = oneof<MaybeWeightedArbitrary<Step>[]>(
  { weight: 6, arbitrary: record({ what: constantFrom('set', 'recreate', 'delete'), name }) },
  { weight: 2, arbitrary: record({ what: constant('wait'), seconds: integer({ min: 1, max: 100 }) }) },
  { weight: 3, arbitrary: record({ what: constant('fault'), fault }) },
  { weight: 1, arbitrary: record({ what: constantFrom('heal', 'compact') }) },
  { weight: 1, arbitrary: record({ what: constantFrom('snapshot', 'listen') }) },
  { weight: 1, arbitrary: record({ what: constant('restore') }) },
);

/** An informer of a server, and everybody who listens to it. */
class History {
  readonly informer: Informer;
  readonly views: View[] = [];
  readonly failures: unknown[] = [];
  readonly #server: MemoryServer;
  readonly #actions = {
    heal: (): void => void (this.#server.fault = undefined),
    compact: (): void => this.#server.compact(),
    snapshot: (): void => void (this.#snapshot = this.#server.snapshot()),
    restore: (): Promise<void> => this.#restore(),
    listen: (): void => this.#listen(),
  };
  #snapshot: Snapshot;

  constructor(server: MemoryServer) {
    this.#server = server;
    this.#snapshot = server.snapshot();
    const error = (_message: string, fields: object = {}): void => void this.failures.push(fields);
    this.informer = new Informer({
      cluster: 'eu-1',
      gvk: { group: '', version: 'v1', kind: 'ConfigMap' },
      source: server,
      clock: systemClock,
      random: () => 0,
      logger: { ...silentLogger, child: () => ({ ...silentLogger, error }) },
      counters: informerCounters(noMetrics),
      listLimit: new ListLimit({ clock: systemClock }),
      budget: new MemoryBudget(1_000_000),
      resyncPeriod: 50_000,
      detectMutations: true,
    });
    this.#listen();
    this.#listen();
  }

  async play(next: Step): Promise<void> {
    if ('name' in next) this.#write(next.what, next.name);
    else if ('seconds' in next) await vi.advanceTimersByTimeAsync(next.seconds * 1000);
    else if ('fault' in next) {
      this.#server.fault = next.fault;
      this.#server.breakWatches();
    } else await this.#actions[next.what]();
    await vi.advanceTimersByTimeAsync(0);
  }

  #write(what: 'set' | 'recreate' | 'delete', object: string): void {
    if (what === 'delete') this.#server.delete(object);
    else this.#server.set(object, what === 'recreate');
  }

  /** What is written before it is noticed may hide that the storage was put back: see the room's contract. */
  async #restore(): Promise<void> {
    this.#server.fault = undefined;
    this.#server.restore(this.#snapshot);
    await vi.advanceTimersByTimeAsync(120_000);
  }

  /** Every second listener is slow. */
  #listen(): void {
    const view = new View(this.views.length % 2 === 0 ? 0 : 700);
    this.views.push(view);
    this.informer.addHandler(view);
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('whatever happens at a server and on the way to it, memory and handlers are in the end as the server is', async () => {
  await assert(
    asyncProperty(boolean(), array(step, { maxLength: 40 }), async (streamsLists, steps) => {
      const server = new MemoryServer(streamsLists);
      const history = new History(server);
      const stop = new AbortController();
      const running = history.informer.run(stop.signal);
      for (const next of steps) await history.play(next);
      server.fault = undefined;
      await vi.advanceTimersByTimeAsync(400_000);
      const { lister } = history.informer;
      expect(new Map(lister.list().map((object) => [object.metadata.name, object]))).toEqual(server.objects);
      for (const view of history.views) expect(view.objects).toEqual(server.objects);
      expect(history.failures).toEqual([]);
      stop.abort();
      await running;
    }),
    { numRuns: 300 },
  );
}, 60_000);
