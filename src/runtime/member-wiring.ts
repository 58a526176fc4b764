import { federatedKinds } from '../api/index.ts';
import type { FederatedKind, FederatedObject } from '../api/index.ts';
import { Applier } from '../apply/index.ts';
import type { FieldManagers } from '../apply/index.ts';
import type { Cluster, Wiring } from '../clusters/index.ts';
import type { Controller, ControllerBuilder, ControllerOptions } from '../controllers/index.ts';
import { PropagationReconciler, keysOfCluster, propagationController } from '../federation/index.ts';
import type { StatusRow } from '../federation/index.ts';
import { TerminalError, kindName } from '../kernel/index.ts';
import type { Clock, ClusterName, Key, Logger, Metrics, Result } from '../kernel/index.ts';
import type { KubernetesClient } from '../kubernetes/index.ts';
import { WorkloadReconciler, workloadController, workloads } from '../workloads/index.ts';
import type { Workload } from '../workloads/index.ts';
import type { AddOptions, KeyedQueue, ReconcileContext } from '../workqueue/index.ts';
import type { HubInformers } from './hub-informers.ts';

/** What every member's wiring is made of. */
export interface MemberWiringOptions {
  readonly hub: KubernetesClient;
  readonly informers: HubInformers;
  readonly installation: string;
  /** Who is who among field managers. */
  readonly managers: FieldManagers;
  readonly report: (cluster: string, object: FederatedObject, row: StatusRow) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Called when the wiring is taken away. */
  readonly onDetach: () => void;
}

/** One engaged member: its controllers, which fill its queue and work its keys. */
export class MemberWiring implements Wiring {
  readonly #cluster: Cluster;
  readonly #options: MemberWiringOptions;
  readonly #queue: KeyedQueue;
  readonly #applier: Applier;
  /** By the kind of their keys. */
  readonly #controllers: ReadonlyMap<string, Controller>;
  /** Until the member is engaged, a key could only wait: all of them are looked at then. */
  #isEngaged = false;

  constructor(cluster: Cluster, queue: KeyedQueue, options: MemberWiringOptions) {
    this.#cluster = cluster;
    this.#queue = queue;
    this.#options = options;
    const { clock, metrics, managers } = options;
    this.#applier = new Applier({ client: cluster.client, clock, metrics, managers });
    const controllers = [
      ...federatedKinds.map((kind) => this.#propagation(kind)),
      ...workloads.map((workload) => this.#operation(workload)),
    ];
    this.#controllers = new Map(controllers.map((controller) => [controller.kind, controller]));
  }

  get cluster(): ClusterName {
    return this.#cluster.name;
  }

  /** Runs the reconciler of the key's kind. @throws TerminalError for a kind that nobody reconciles in a member */
  reconcile(key: Key, context: ReconcileContext): Promise<Result> {
    const controller = this.#controllers.get(key.kind);
    if (controller === undefined) throw new TerminalError(`no reconciler for ${key.kind} in ${key.cluster}`);
    return controller.reconcile(key, context);
  }

  enqueueAll(): void {
    this.#isEngaged = true;
    const recorded = keysOfCluster(this.#cluster.name, this.#options.informers.triggers);
    for (const key of recorded) this.#enqueue(key);
    const owned = [...this.#controllers.values()].flatMap((controller) => controller.keys());
    for (const key of owned) this.#enqueue(key, { priority: 'resync' });
  }

  detach(): void {
    for (const controller of this.#controllers.values()) controller.detach();
    this.#options.onDetach();
  }

  /** Hub → member: a federated object's side in this cluster. */
  #propagation(kind: FederatedKind): Controller {
    const { hub, informers, installation, report } = this.#options;
    const { name, client } = this.#cluster;
    const objects = informers.federated.get(kindName(kind.federated.gvk));
    if (objects === undefined) throw new TerminalError(`no hub informer for ${kind.federated.gvk.kind}`);
    return this.#attach(propagationController(kind, name, informers.triggers), (caches) => {
      const reconciler = new PropagationReconciler({
        kind,
        client,
        applier: this.#applier,
        live: caches(kind.target.gvk),
        hub,
        objects: objects.lister,
        members: informers.members.lister,
        revisions: informers.revisions.lister,
        installation,
        report: (object, row) => report(name, object, row),
      });
      return (key, context) => reconciler.reconcile(key, context);
    });
  }

  /** Member → children: an operator of one of Atoll's own kinds. */
  #operation(workload: Workload): Controller {
    const { installation, clock, logger } = this.#options;
    const { client } = this.#cluster;
    return this.#attach(workloadController(workload), (caches) => {
      const parts = { workload, client, applier: this.#applier, caches };
      const reconciler = new WorkloadReconciler({ ...parts, installation, clock, logger });
      return (key, context) => reconciler.reconcile(key, context);
    });
  }

  #attach(builder: ControllerBuilder, reconciler: ControllerOptions['reconciler']): Controller {
    const { name, informers } = this.#cluster;
    const { clock, logger, metrics } = this.#options;
    const queue = { add: (key: Key, options?: AddOptions) => this.#enqueue(key, options) };
    return builder.attach({ cluster: name, informers, queue, reconciler, clock, logger, metrics });
  }

  #enqueue(key: Key, options?: AddOptions): void {
    if (this.#isEngaged) this.#queue.add(key, options);
  }
}
