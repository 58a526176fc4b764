import { Applier, managedFieldsReducer } from '../../src/apply/index.ts';
import type { ApplyOutcome, OwnerMark } from '../../src/apply/index.ts';
import { MutationCache } from '../../src/controllers/index.ts';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { gvkOf, noMetrics, objectKey, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject, Metrics } from '../../src/kernel/index.ts';
import { KubernetesClient, parseKubeconfig } from '../../src/kubernetes/index.ts';
import type { WriteContext } from '../../src/kubernetes/index.ts';
import type { LabCluster } from '../../test/lab/index.ts';

/** Where everything is. */
export const NAMESPACE = 'bench';
/** Keys worked on at once, as in a shard. */
const CONCURRENCY = 4;

const owner: OwnerMark = { installation: 'bench', kind: 'Bench.', namespace: NAMESPACE, name: 'all', uid: '1' };

/** A write under a field manager. */
export function writeOf(fieldManager: string): WriteContext {
  return { identity: { kind: 'self' }, fieldManager, guard: () => undefined };
}

/** A ConfigMap of 1 KiB that says which revision it is. */
export function configMap(name: string, revision: number): KubernetesObject {
  const data = { revision: String(revision), payload: 'x'.repeat(1024) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data };
}

/** Runs something on all of a list, a few at a time. */
export async function onAll<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = [...items];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, () => work()));
}

/** A client of a member that counts what it sends. */
export function countingClient({ name, kubeconfig }: LabCluster): { client: KubernetesClient; requests: () => number } {
  let sent = 0;
  const metrics: Metrics = {
    ...noMetrics,
    counter: (options) => ({
      inc: (_, by = 1) => {
        if (options.name === 'rest_client_requests_total') sent += by;
      },
    }),
  };
  const client = new KubernetesClient({
    cluster: name,
    connection: parseKubeconfig(kubeconfig),
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    metrics,
  });
  return { client, requests: () => sent };
}

/** One member's side of the product at its smallest: a watch, a set of keys, an applier. */
export class BenchMember {
  readonly client: KubernetesClient;
  /** Requests that were sent so far; watches count when they begin. */
  readonly requests: () => number;
  readonly #informers: SharedInformerFactory;
  readonly #cache: MutationCache;
  readonly #applier: Applier;
  readonly #wanted = new Map<string, KubernetesObject>();
  readonly #dirty = new Set<string>();
  #running = 0;
  #idle = Promise.withResolvers<void>();

  constructor(cluster: LabCluster) {
    const { client, requests } = countingClient(cluster);
    this.client = client;
    this.requests = requests;
    const ports = { clock: systemClock, logger: silentLogger, metrics: noMetrics };
    const transform = managedFieldsReducer();
    this.#informers = new SharedInformerFactory({ client, transform, random: Math.random, ...ports });
    const informer = this.#informers.informer(gvkOf(configMap('any', 0)), { namespace: NAMESPACE });
    this.#cache = new MutationCache({ informer, clock: systemClock });
    const look = (object: KubernetesObject): void => this.look(objectKey(object));
    informer.addHandler({ onAdd: look, onUpdate: (_, object) => look(object), onDelete: look });
    this.#applier = new Applier({ client, ...ports });
  }

  async start(): Promise<void> {
    this.#informers.start();
    await this.#informers.waitForSync();
  }

  async stop(): Promise<void> {
    await this.#informers.stop();
    await this.client.close();
  }

  /** Wants an object from now on, and looks at it. */
  want(object: KubernetesObject): void {
    this.#wanted.set(objectKey(object), object);
    this.look(objectKey(object));
  }

  look(key: string): void {
    if (!this.#wanted.has(key)) return;
    this.#dirty.add(key);
    this.#start();
  }

  /** Until no key waits or runs. */
  async idle(): Promise<void> {
    while (this.#dirty.size > 0 || this.#running > 0) await this.#idle.promise;
  }

  #start(): void {
    while (this.#running < CONCURRENCY) {
      const next = this.#dirty.values().next();
      if (next.done === true) return;
      this.#dirty.delete(next.value);
      this.#running += 1;
      void this.#run(next.value);
    }
  }

  async #run(key: string): Promise<void> {
    try {
      const outcome = await this.#apply(key);
      if (outcome !== undefined && !('object' in outcome)) throw new Error(outcome.message);
      if (outcome !== undefined) this.#cache.remember(outcome.object);
    } catch (error) {
      console.error(`  ${key}:`, error);
      this.#dirty.add(key);
    }
    this.#running -= 1;
    this.#start();
    if (this.#dirty.size > 0 || this.#running > 0) return;
    this.#idle.resolve();
    this.#idle = Promise.withResolvers<void>();
  }

  async #apply(key: string): Promise<ApplyOutcome | undefined> {
    const desired = this.#wanted.get(key);
    if (desired === undefined) return undefined;
    return this.#applier.apply({ desired, live: this.#cache.get(key), owner, write: writeOf('atoll') });
  }
}
