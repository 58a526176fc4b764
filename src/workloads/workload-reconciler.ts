import { applyObject, applyStatus, isOwnedBy, markOf, ReadYourWrites, removeObject } from '../apply/index.ts';
import type { OwnerMark } from '../apply/index.ts';
import type { SharedInformer, SharedInformerFactory } from '../informers/index.ts';
import {
  apiVersionOf,
  done,
  formatGvk,
  formatTime,
  gvkOf,
  kindName,
  objectKey,
  requeueAfter,
  WaitingError,
} from '../kernel/index.ts';
import type { Clock, Key, KubernetesObject, Logger, PolicyRule, Result } from '../kernel/index.ts';
import { referenceOf, writeAs } from '../kubernetes/index.ts';
import type { KubernetesClient, WriteContext } from '../kubernetes/index.ts';
import type { ReconcileContext } from '../workqueue/index.ts';
import { Findings } from './findings.ts';
import { CHILD_SCOPE } from './triggers.ts';
import type { Workload } from './workload.ts';
import { workloads } from './workloads.ts';

/** What a {@link WorkloadReconciler} works with: one workload in one member. */
export interface WorkloadReconcilerOptions {
  readonly workload: Workload;
  readonly client: KubernetesClient;
  readonly informers: SharedInformerFactory;
  /** Atoll's installation id: objects of another installation are not ours to operate. */
  readonly installation: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One run: what it is about and what is written on its behalf. */
interface Run {
  readonly object: KubernetesObject;
  readonly owner: OwnerMark;
  readonly write: WriteContext;
  readonly findings: Findings;
}

const CHILDREN_MANAGER = 'atoll-workloads';
const STATUS_MANAGER = 'atoll-status';
const RECONCILE_ANNOTATION = 'atoll.dev/reconcile';
const OWNER_INDEX = 'owner';
const LOOK_AGAIN = 30_000;

/** Makes the children of one object what they shall be and reports how they are. */
export class WorkloadReconciler {
  /** What all workloads together need in a member. */
  static readonly rules: readonly PolicyRule[] = workloads.flatMap((workload) => workload.rules);

  readonly #options: WorkloadReconcilerOptions;
  readonly #objects: SharedInformer;
  readonly #children: ReadonlyMap<string, SharedInformer>;
  readonly #written = new ReadYourWrites();

  constructor(options: WorkloadReconcilerOptions) {
    const { workload, informers } = options;
    this.#options = options;
    this.#objects = informers.informer(workload.kind.gvk);
    this.#children = new Map(workload.children.map((gvk) => [formatGvk(gvk), informers.informer(gvk, CHILD_SCOPE)]));
    for (const informer of this.#children.values()) informer.addIndex(OWNER_INDEX, ownerUids);
  }

  /** Runs for one object of the workload's kind. An object that is gone or going is the garbage collector's. */
  async reconcile(key: Key, context: ReconcileContext): Promise<Result> {
    this.#requireSync();
    const object = this.#written.newest(this.#objects.lister.get(`${key.namespace}/${key.name}`));
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return done;
    if (this.#isForeign(object) || object.metadata.annotations?.[RECONCILE_ANNOTATION] === 'disabled') return done;

    const run = this.#runFor(object, context);
    const rendered = this.#options.workload.render(object).map((child) => withOwner(child, object));
    const applied = await this.#applyChildren(rendered, run);
    if (run.findings.isClean()) await this.#removeObsolete(rendered, run);
    await this.#writeStatus(applied, run, context);
    run.findings.throwWorst();
    return run.findings.isClean() ? done : requeueAfter(LOOK_AGAIN);
  }

  /** A cache that is still filling would show children as absent and put a wrong status out. */
  #requireSync(): void {
    const waiting = [this.#objects, ...this.#children.values()].find((informer) => !informer.hasSynced());
    if (waiting === undefined) return;
    throw new WaitingError(`the informer of ${waiting.gvk.kind} has not synced yet`, { cause: waiting.lastError() });
  }

  #isForeign(object: KubernetesObject): boolean {
    const found = markOf(object);
    return found !== undefined && found.valid && found.mark.installation !== this.#options.installation;
  }

  #runFor(object: KubernetesObject, context: ReconcileContext): Run {
    const { workload, installation } = this.#options;
    const { namespace = '', name = '', uid = '' } = object.metadata;
    return {
      object,
      owner: { installation, kind: kindName(workload.kind.gvk), namespace, name, uid },
      write: writeAs(CHILDREN_MANAGER, context),
      findings: new Findings(),
    };
  }

  /** Applies every child, whatever becomes of the others, and answers those that are there. */
  async #applyChildren(rendered: readonly KubernetesObject[], run: Run): Promise<KubernetesObject[]> {
    const present: KubernetesObject[] = [];
    for (const desired of rendered) {
      const live = this.#written.newest(this.#informerOf(desired).lister.get(objectKey(desired)));
      const applied = await run.findings.collect(() => this.#applyChild(desired, live, run));
      const child = applied ?? live;
      if (child !== undefined && isOwnedBy(child, run.owner)) present.push(child);
    }
    return present;
  }

  async #applyChild(
    desired: KubernetesObject,
    live: KubernetesObject | undefined,
    { owner, write, findings }: Run,
  ): Promise<KubernetesObject | undefined> {
    const outcome = await applyObject({ client: this.#options.client, desired, live, owner, write });
    if (outcome.result === 'foreign' || outcome.result === 'conflict') {
      findings.addOutcome(outcome);
      return undefined;
    }
    if (outcome.result === 'unchanged') return outcome.object;
    this.#written.remember(outcome.object);
    this.#options.logger.info('applied a child', {
      owner: `${owner.kind} ${owner.namespace}/${owner.name}`,
      child: `${desired.kind} ${objectKey(desired)}`,
      result: outcome.result,
    });
    return outcome.object;
  }

  /** Children that bear our mark and our owner reference, and are not rendered any more. */
  async #removeObsolete(rendered: readonly KubernetesObject[], { object, owner, write, findings }: Run): Promise<void> {
    const wanted = new Set(rendered.map((child) => childKey(child)));
    const owned = [...this.#children.values()].flatMap((informer) =>
      informer.lister.byIndex(OWNER_INDEX, object.metadata.uid ?? ''),
    );
    for (const live of owned.filter((child) => !wanted.has(childKey(child)))) {
      const request = { client: this.#options.client, ref: referenceOf(live), live, owner, write };
      await findings.collect(() => removeObject(request));
    }
  }

  async #writeStatus(
    children: readonly KubernetesObject[],
    { object, findings }: Run,
    context: ReconcileContext,
  ): Promise<void> {
    const { workload, client, clock } = this.#options;
    const observation = { now: formatTime(clock.now()), problems: findings.problems() };
    const status = workload.health(object, children, observation);
    const written = await applyStatus(client, object, status, writeAs(STATUS_MANAGER, context));
    if (written !== undefined) this.#written.remember(written);
  }

  #informerOf(child: KubernetesObject): SharedInformer {
    const informer = this.#children.get(formatGvk(gvkOf(child)));
    if (informer !== undefined) return informer;
    throw new TypeError(`${this.#options.workload.kind.gvk.kind} renders ${child.kind}, which it does not declare`);
  }
}

function withOwner(child: KubernetesObject, object: KubernetesObject): KubernetesObject {
  const reference = {
    apiVersion: apiVersionOf(gvkOf(object)),
    kind: object.kind,
    name: object.metadata.name ?? '',
    uid: object.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
  return { ...child, metadata: { ...child.metadata, ownerReferences: [reference] } };
}

function ownerUids(object: KubernetesObject): readonly string[] {
  return (object.metadata.ownerReferences ?? []).map((reference) => reference.uid);
}

function childKey(child: KubernetesObject): string {
  return `${formatGvk(gvkOf(child))} ${objectKey(child)}`;
}
