import { Applier } from '../../src/apply/index.ts';
import type { ApplierRequest, ApplyOutcome } from '../../src/apply/index.ts';
import { MutationCache } from '../../src/controllers/index.ts';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { gvkOf, noMetrics, objectKey, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { managedFieldsReducer } from '../../src/apply/index.ts';
import { asAtoll, CLUSTER } from './apply-fixture.ts';
import { auditEvents, eventually, labCluster } from './lab.ts';
import { recordingClient } from './recording-client.ts';
import type { RecordingClient } from './recording-client.ts';

/** How long nothing must happen until an object counts as at rest. */
const REST = 250;

/** One object that is kept as it shall be by what its watch tells, and by nothing else: a controller at its smallest. */
export class KeptObject {
  desired: KubernetesObject;
  /** Of every run, in order. */
  readonly outcomes: (ApplyOutcome | Error)[] = [];
  readonly #client: RecordingClient = recordingClient(CLUSTER);
  #options: Partial<ApplierRequest>;
  readonly #informers: SharedInformerFactory;
  readonly #cache: MutationCache;
  #applier: Applier;
  #running: Promise<void> = Promise.resolve();
  #lastEvent = performance.now();

  constructor(desired: KubernetesObject, options: Partial<ApplierRequest>) {
    this.desired = desired;
    this.#options = options;
    const ports = { clock: systemClock, random: Math.random, logger: silentLogger, metrics: noMetrics };
    const transform = managedFieldsReducer();
    this.#informers = new SharedInformerFactory({ client: this.#client, transform, detectMutations: true, ...ports });
    const informer = this.#informers.informer(gvkOf(desired), { namespace: desired.metadata.namespace ?? '' });
    this.#cache = new MutationCache({ informer, clock: systemClock });
    informer.addHandler({ onAdd: () => this.look(), onUpdate: () => this.look(), onDelete: () => this.look() });
    this.#applier = new Applier({ client: this.#client, ...ports });
  }

  async start(): Promise<void> {
    this.#informers.start();
    await this.#informers.waitForSync();
    this.look();
    await this.atRest();
  }

  async stop(): Promise<void> {
    await this.#informers.stop();
    await this.#running;
    await this.#client.close();
  }

  /** As after a restart: nothing is remembered, and everything is looked at. */
  async restart(): Promise<void> {
    this.#applier = new Applier({ client: this.#client, clock: systemClock, metrics: noMetrics });
    this.look();
    await this.atRest();
  }

  /** Something else is wanted from now on. */
  async want(desired: KubernetesObject): Promise<void> {
    this.desired = desired;
    this.look();
    await this.atRest();
  }

  /** Another policy holds from now on. */
  async under(policy: Partial<ApplierRequest>): Promise<void> {
    this.#options = { ...this.#options, ...policy };
    this.look();
    await this.atRest();
  }

  /** Runs once more after what runs now. */
  look(): void {
    this.#lastEvent = performance.now();
    this.#running = this.#running.then(() => this.#run());
  }

  async #run(): Promise<void> {
    const { desired } = this;
    try {
      const live = this.#cache.get(objectKey(desired));
      const outcome = await this.#applier.apply({ desired, live, write: asAtoll, ...this.#options });
      if ('object' in outcome) this.#cache.remember(outcome.object);
      this.outcomes.push(outcome);
    } catch (error) {
      this.outcomes.push(error as Error);
    }
  }

  /** Until nothing has happened for a while from now on. */
  async atRest(): Promise<void> {
    this.#lastEvent = performance.now();
    await eventually(async () => {
      await this.#running;
      return performance.now() - this.#lastEvent > REST;
    });
  }

  /** How the last run ended. @throws what it threw */
  last(): ApplyOutcome {
    const outcome = this.outcomes.at(-1);
    if (outcome instanceof Error) throw outcome;
    if (outcome === undefined) throw new Error('nothing has run yet');
    return outcome;
  }
}

/** The mutating requests of a field manager in a namespace that a cluster's audit log tells of, in order. */
export class WrittenRequests {
  readonly #manager: string;
  readonly #namespace: string;
  #seen = 0;

  constructor(manager: string, namespace: string) {
    this.#manager = manager;
    this.#namespace = namespace;
  }

  /** "patch deployments/web 200", since the last call; refused ones and dry runs too. */
  async take(): Promise<readonly string[]> {
    const all = (await auditEvents(labCluster(CLUSTER)))
      .filter(({ objectRef }) => objectRef?.namespace === this.#namespace)
      .filter(({ requestURI }) => isOf(requestURI, this.#manager))
      .map(({ verb, requestURI, objectRef, responseStatus }) => {
        const force = requestURI.includes('force=true') ? '!' : '';
        const dry = requestURI.includes('dryRun') ? ' (dry run)' : '';
        return `${verb}${force} ${objectRef?.resource}/${objectRef?.name}${dry} ${responseStatus?.code}`;
      });
    const fresh = all.slice(this.#seen);
    this.#seen = all.length;
    return fresh;
  }
}

/** Deletions name no field manager; in a namespace of its own, a test knows whose they are. */
function isOf(requestURI: string, manager: string): boolean {
  const query = new URL(requestURI, 'https://server').searchParams;
  return query.get('fieldManager') === manager;
}
