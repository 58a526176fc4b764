import { SharedInformerFactory } from '../../src/informers/index.ts';
import type { HandlerRegistration, SharedInformer } from '../../src/informers/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import type { Cancel, Random } from '../../src/kernel/index.ts';
import { ApiError, KubernetesClient } from '../../src/kubernetes/index.ts';
import type { Connection } from '../../src/kubernetes/index.ts';
import type { CountingClock } from '../../test/support/counting-clock.ts';
import { withoutManagedFields } from '../informers/transform.ts';
import type { CountingMetrics } from './counting-metrics.ts';
import { pick } from './random.ts';
import { CONFIG_MAP, LASTING, PASSING, nameOf } from './scopes.ts';
import type { SoakScope } from './scopes.ts';
import { View, versionsOf } from './view.ts';
import type { Versions } from './view.ts';

/** Options of {@link Subject}. */
export interface SubjectOptions {
  /** Without a token. */
  readonly connection: Connection;
  /** The token that is valid now: asked again when the server refused the last one. */
  readonly readToken: () => string;
  readonly clock: CountingClock;
  readonly random: Random;
  readonly metrics: CountingMetrics;
}

/** One informer as it is held now: what its cache has, and what each of its handlers was told. */
export interface HeldState {
  readonly name: string;
  readonly scope: SoakScope;
  readonly cache: Versions;
  readonly views: readonly Versions[];
}

/** Everything that a subject can say of itself. */
export interface SubjectState {
  readonly held: readonly HeldState[];
  /** How many different informers that is: two who ask for the same share one. */
  readonly informers: number;
  readonly told: number;
  /** What handlers must not be told, and errors of a class that a call must not end with. */
  readonly violations: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly passed: number;
}

interface Held {
  readonly scope: SoakScope;
  readonly informer: SharedInformer;
  readonly handlers: readonly { readonly view: View; readonly registration: HandlerRegistration }[];
}

/** A slow handler takes up to this long for each notification. */
const SLOWNESS = 20;
/** Informers come every 2–6 s and stay for 5–40 s. */
const COMING = { least: 2000, range: 4000 };
const STAY = { least: 5000, range: 35_000 };
const READ_INTERVAL = 500;
const NAMES = 100;

/** A program as users of the two rooms write it: informers with quick and slow handlers, some that pass, and reads. */
export class Subject {
  readonly #options: SubjectOptions;
  readonly #client: KubernetesClient;
  readonly #factory: SharedInformerFactory;
  readonly #held = new Set<Held>();
  /** Those of them that are to be released sooner or later. */
  readonly #passing = new Set<Held>();
  readonly #cancels = new Set<Cancel>();
  readonly #violations: string[] = [];
  readonly #reads: Record<string, number> = {};
  #told = 0;
  #passed = 0;
  #reading: Promise<void> = Promise.resolve();
  #isReading = false;

  constructor(options: SubjectOptions) {
    this.#options = options;
    const { clock, random, metrics } = options;
    const ports = { clock, random, metrics, logger: silentLogger };
    let current: Connection = { ...options.connection, token: options.readToken() };
    const source = {
      current: () => current,
      refresh: () => {
        current = { ...options.connection, token: options.readToken() };
        return Promise.resolve();
      },
    };
    this.#client = new KubernetesClient({ cluster: 'soak', connection: source, userAgent: 'atoll-soak', ...ports });
    this.#factory = new SharedInformerFactory({ client: this.#client, transform: withoutManagedFields, ...ports });
  }

  /** Starts the lasting informers, and resolves when they have synced. */
  async start(): Promise<void> {
    for (const scope of LASTING) this.#hold(scope);
    this.#factory.start();
    await this.#factory.waitForSync();
  }

  /** Begins to read, and to ask for informers and release them. */
  goOn(): void {
    this.#reading = this.#read();
    for (const held of this.#passing) this.#scheduleGoing(held);
    this.#scheduleComing();
  }

  /** Ends that: what is held stays until it goes on. */
  async rest(): Promise<void> {
    this.#isReading = false;
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
    await this.#reading;
  }

  async stop(): Promise<void> {
    await this.rest();
    for (const held of this.#held) this.#release(held);
    await this.#factory.stop();
    await this.#client.close();
  }

  state(): SubjectState {
    const held = [...this.#held];
    const handlers = held.flatMap((one) => one.handlers);
    return {
      held: held.map(({ scope, informer, handlers: own }) => ({
        name: nameOf(scope),
        scope,
        cache: versionsOf(informer.lister.list()),
        views: own.map(({ view }) => view.versions()),
      })),
      informers: new Set(held.map(({ scope }) => nameOf(scope))).size,
      told: this.#told + handlers.reduce((sum, { view }) => sum + view.told, 0),
      violations: [...this.#violations, ...handlers.flatMap(({ view }) => view.violations)],
      counts: { ...this.#options.metrics.sums, ...this.#reads },
      passed: this.#passed,
    };
  }

  #hold(scope: SoakScope): Held {
    const { group, version, kind } = scope.kind;
    const { metadataOnly } = scope;
    const informer = this.#factory.informer({ group, version, kind }, scope.scope, { metadataOnly });
    const { clock, random } = this.#options;
    const works = [() => undefined, () => clock.sleep(random() * SLOWNESS)];
    const handlers = works.map((work) => {
      const view = new View(work);
      return { view, registration: informer.addHandler(view) };
    });
    const held = { scope, informer, handlers };
    this.#held.add(held);
    return held;
  }

  #release(held: Held): void {
    this.#held.delete(held);
    for (const { view, registration } of held.handlers) {
      this.#told += view.told;
      this.#violations.push(...view.violations);
      // Every other way of leaving: a handler that is removed, and one that its informer takes along.
      if (this.#options.random() < 0.5) registration.remove();
    }
    held.informer.release();
  }

  #scheduleComing(): void {
    const { random } = this.#options;
    this.#after(COMING.least + random() * COMING.range, () => {
      const held = this.#hold(pick(random, PASSING));
      this.#passing.add(held);
      this.#scheduleGoing(held);
      this.#scheduleComing();
    });
  }

  #scheduleGoing(held: Held): void {
    this.#after(STAY.least + this.#options.random() * STAY.range, () => {
      this.#passing.delete(held);
      this.#release(held);
      this.#passed += 1;
    });
  }

  #after(milliseconds: number, callback: () => void): void {
    const cancel = this.#options.clock.after(milliseconds, () => {
      this.#cancels.delete(cancel);
      callback();
    });
    this.#cancels.add(cancel);
  }

  async #read(): Promise<void> {
    const { clock, random } = this.#options;
    this.#isReading = true;
    while (this.#isReading) {
      const name = `object-${Math.floor(random() * NAMES)}`;
      this.#countRead(await this.#readOne(name));
      await clock.sleep(READ_INTERVAL);
    }
  }

  async #readOne(name: string): Promise<string> {
    const { group, version, kind } = CONFIG_MAP;
    try {
      const object = await this.#client.get({ gvk: { group, version, kind }, namespace: 'soak-a', name });
      return object ? 'found' : 'absent';
    } catch (error) {
      if (error instanceof ApiError) return error.name;
      this.#violations.push(
        `a read ended with ${error instanceof Error ? (error.stack ?? error.name) : String(error)}`,
      );
      return 'violation';
    }
  }

  #countRead(outcome: string): void {
    const key = `reads ${outcome}`;
    this.#reads[key] = (this.#reads[key] ?? 0) + 1;
  }
}
