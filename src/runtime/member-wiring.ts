import { federatedKinds } from '../api/index.ts';
import type { FederatedObject } from '../api/index.ts';
import type { Cluster, Wiring } from '../clusters/index.ts';
import { PropagationReconciler, handlerFor, keysOfCluster, memberTriggers } from '../federation/index.ts';
import type { StatusRow, TriggerContext } from '../federation/index.ts';
import { TerminalError, keyFor, kindName } from '../kernel/index.ts';
import type { Clock, ClusterName, Key, KubernetesObject, Logger, Result } from '../kernel/index.ts';
import type { KubernetesClient } from '../kubernetes/index.ts';
import { WorkloadReconciler, triggersOf, workloads } from '../workloads/index.ts';
import type { KeyedQueue, Priority, Reconcile, ReconcileContext } from '../workqueue/index.ts';
import type { HubInformers } from './hub-informers.ts';

/** What every member's wiring is made of. */
export interface MemberWiringOptions {
  readonly hub: KubernetesClient;
  readonly informers: HubInformers;
  readonly triggers: TriggerContext;
  readonly installation: string;
  readonly report: (cluster: string, object: FederatedObject, row: StatusRow) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the wiring is taken away. */
  readonly onDetach: () => void;
}

/** One engaged member: its reconcilers, and the handlers that fill its queue. */
export class MemberWiring implements Wiring {
  readonly #cluster: Cluster;
  readonly #options: MemberWiringOptions;
  readonly #queue: KeyedQueue;
  readonly #reconcilers: ReadonlyMap<string, Reconcile>;
  readonly #detach: (() => void)[] = [];
  /** Until the member is engaged, a key could only wait: all of them are looked at then. */
  #isEngaged = false;

  constructor(cluster: Cluster, queue: KeyedQueue, options: MemberWiringOptions) {
    this.#cluster = cluster;
    this.#queue = queue;
    this.#options = options;
    this.#reconcilers = new Map([...this.#propagation(), ...this.#operation()]);
    this.#watchTargets();
    this.#watchWorkloads();
  }

  get cluster(): ClusterName {
    return this.#cluster.name;
  }

  /** Runs the reconciler of the key's kind. @throws TerminalError for a kind that nobody reconciles in a member */
  reconcile(key: Key, context: ReconcileContext): Promise<Result> {
    const reconcile = this.#reconcilers.get(key.kind);
    if (reconcile === undefined) throw new TerminalError(`no reconciler for ${key.kind} in ${key.cluster}`);
    return reconcile(key, context);
  }

  enqueueAll(): void {
    this.#isEngaged = true;
    const { name, informers } = this.#cluster;
    for (const key of keysOfCluster(name, this.#options.triggers)) this.#enqueue(key, 'event');
    for (const { kind } of workloads) {
      const objects = informers.informer(kind.gvk).lister.list();
      for (const object of objects) this.#enqueue(keyFor(name, kindName(kind.gvk), object), 'resync');
    }
  }

  #enqueue(key: Key, priority: Priority): void {
    if (this.#isEngaged) this.#queue.add(key, { priority });
  }

  detach(): void {
    for (const detach of this.#detach.splice(0)) detach();
    this.#options.onDetach();
  }

  #propagation(): [string, Reconcile][] {
    const { hub, informers, installation, report } = this.#options;
    return federatedKinds.map((kind) => {
      const name = kindName(kind.federated.gvk);
      const objects = informers.federated.get(name);
      if (objects === undefined) throw new TerminalError(`no hub informer for ${name}`);
      const reconciler = new PropagationReconciler({
        kind,
        cluster: this.#cluster,
        hub,
        objects: objects.lister,
        members: informers.members.lister,
        revisions: informers.revisions.lister,
        installation,
        report: (object, row) => report(this.#cluster.name, object, row),
      });
      return [name, (key, context) => reconciler.reconcile(key, context)];
    });
  }

  #operation(): [string, Reconcile][] {
    const { installation, clock, logger } = this.#options;
    return workloads.map((workload) => {
      const { client, informers } = this.#cluster;
      const reconciler = new WorkloadReconciler({ workload, client, informers, installation, clock, logger });
      return [kindName(workload.kind.gvk), (key, context) => reconciler.reconcile(key, context)];
    });
  }

  #watchTargets(): void {
    const triggers = memberTriggers(this.#cluster.name, this.#options.triggers);
    for (const { target } of federatedKinds) {
      const handler = handlerFor(kindName(target.gvk), triggers, (key, priority) => this.#enqueue(key, priority));
      const registration = this.#cluster.informers.informer(target.gvk).addHandler(handler);
      this.#detach.push(() => registration.remove());
    }
  }

  #watchWorkloads(): void {
    for (const trigger of workloads.flatMap((workload) => triggersOf(workload, this.#cluster.name))) {
      const enqueue = (object: KubernetesObject, priority: Priority): void => {
        const key = trigger.keyOf(object);
        if (key !== undefined) this.#enqueue(key, priority);
      };
      const registration = this.#cluster.informers.informer(trigger.gvk, trigger.scope).addHandler({
        onAdd: (object, isInInitialList) => enqueue(object, isInInitialList ? 'resync' : 'event'),
        onUpdate: (previous, current) => enqueue(current, previous === current ? 'resync' : 'event'),
        onDelete: (last) => enqueue(last, 'event'),
      });
      this.#detach.push(() => registration.remove());
    }
  }
}
