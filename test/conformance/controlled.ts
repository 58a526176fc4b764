import { vi } from 'vitest';
import type { Controller, ControllerBuilder, ControllerOptions } from '../../src/controllers/index.ts';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { done, noMetrics, systemClock } from '../../src/kernel/index.ts';
import type { GroupVersionKind, Key } from '../../src/kernel/index.ts';
import { apiVersionOf, formatGvk } from '../../src/kernel/index.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { SourceClient } from '../support/source-client.ts';

export const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' };
export const REPLICA_SET = { group: 'apps', version: 'v1', kind: 'ReplicaSet' };
export const SECRET = { group: '', version: 'v1', kind: 'Secret' };

/** Informers over a server in memory per kind, and a queue that notes what is added: "event Deployment.apps ns/name". */
export class Controlled {
  readonly log = new RecordingLogger();
  readonly added: string[] = [];
  readonly keys: Key[] = [];
  readonly informers: SharedInformerFactory;
  readonly #servers = new Map<string, MemoryServer>();

  constructor() {
    this.informers = new SharedInformerFactory({
      client: new SourceClient((gvk) => this.server(gvk)),
      clock: systemClock,
      random: () => 0.5,
      logger: this.log,
      metrics: noMetrics,
      resyncPeriod: 60_000,
    });
  }

  server(gvk: GroupVersionKind): MemoryServer {
    const existing = this.#servers.get(formatGvk(gvk));
    if (existing) return existing;
    const server = new MemoryServer({ apiVersion: apiVersionOf(gvk), kind: gvk.kind });
    this.#servers.set(formatGvk(gvk), server);
    return server;
  }

  attach(builder: ControllerBuilder, options: Partial<ControllerOptions> = {}): Controller {
    return builder.attach({
      cluster: 'eu-1',
      informers: this.informers,
      queue: {
        add: (key, { priority = 'event' } = {}) => {
          this.keys.push(key);
          this.added.push(`${priority} ${key.kind} ${key.namespace}/${key.name}`);
        },
      },
      reconciler: () => async () => Promise.resolve(done),
      clock: systemClock,
      logger: this.log,
      metrics: noMetrics,
      ...options,
    });
  }

  async start(): Promise<void> {
    this.informers.start();
    await this.pass();
  }

  async pass(milliseconds = 0): Promise<void> {
    await vi.advanceTimersByTimeAsync(milliseconds);
  }

  /** What was added since this was called last. */
  take(): string[] {
    return this.added.splice(0);
  }
}
