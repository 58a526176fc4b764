import { Applier } from '../../src/apply/index.ts';
import type { Controller } from '../../src/controllers/index.ts';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import {
  done,
  formatKey,
  kindName,
  noMetrics,
  silentLogger,
  systemClock,
  TerminalError,
} from '../../src/kernel/index.ts';
import type { Key, Result } from '../../src/kernel/index.ts';
import type { Connection } from '../../src/kubernetes/index.ts';
import type { Workload } from '../../src/workloads/index.ts';
import { workloadController, WorkloadReconciler } from '../../src/workloads/index.ts';
import type { RecordingClient } from './recording-client.ts';
import { recordingClient } from './recording-client.ts';

export interface HandOperatorOptions {
  readonly cluster: string;
  /** With whose rights it runs. */
  readonly connection: Connection;
  /** Objects elsewhere are left to other tests. */
  readonly namespace: string;
  readonly installation: string;
  readonly workload: Workload;
}

const RETRY = 50;

/** A workload's controller with the least that makes it run: a set of keys, one worker, a fixed delay after a failure. */
export class HandOperator {
  readonly client: RecordingClient;
  readonly #options: HandOperatorOptions;
  readonly #informers: SharedInformerFactory;
  readonly #controller: Controller;
  readonly #dirty = new Map<string, Key>();
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** How the last run of the last key ended. */
  lastResult: Result | Error | undefined;

  constructor(options: HandOperatorOptions) {
    this.#options = options;
    this.client = recordingClient(options.cluster, options.connection);
    const ports = { clock: systemClock, logger: silentLogger, metrics: noMetrics };
    this.#informers = new SharedInformerFactory({
      client: this.client,
      random: Math.random,
      detectMutations: true,
      ...ports,
    });
    const { cluster, workload, installation } = options;
    this.#controller = workloadController(workload).attach({
      cluster,
      informers: this.#informers,
      queue: { add: (key) => this.#add(key) },
      reconciler: (caches) => {
        const applier = new Applier({ client: this.client, ...ports });
        const parts = { client: this.client, applier, workload, installation, caches, ...ports };
        const reconciler = new WorkloadReconciler(parts);
        return (key, context) => reconciler.reconcile(key, context);
      },
      ...ports,
    });
  }

  async start(): Promise<void> {
    this.#informers.start();
    await this.#informers.waitForSync(AbortSignal.timeout(30_000));
    this.#running = this.#work();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#controller.detach();
    await this.#informers.stop();
    await this.client.close();
  }

  /** Looks at an object again, whether or not anything happened to it. */
  enqueue(name: string): void {
    const { cluster, namespace, workload } = this.#options;
    this.#add({ cluster, namespace, name, kind: kindName(workload.kind.gvk) });
  }

  isIdle(): boolean {
    return this.#dirty.size === 0 && !this.#isBusy;
  }

  #isBusy = false;

  #add(key: Key): void {
    if (key.namespace === this.#options.namespace) this.#dirty.set(formatKey(key), key);
  }

  async #work(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const [next] = this.#dirty;
      if (next === undefined) await systemClock.sleep(5, this.#stop.signal);
      else await this.#reconcile(...next);
    }
  }

  async #reconcile(text: string, key: Key): Promise<void> {
    this.#isBusy = true;
    this.#dirty.delete(text);
    try {
      this.lastResult = await this.#controller.reconcile(key, { signal: this.#stop.signal, guard: () => undefined });
    } catch (error) {
      this.lastResult = error as Error;
    }
    this.#isBusy = false;
    if (this.lastResult === done || this.lastResult instanceof TerminalError) return;
    systemClock.after(RETRY, () => this.#add(key));
  }
}
