import { applyStatus, childRules, isOwnedBy, markOf, ownRules } from '../apply/index.ts';
import type { Applier, OwnerMark } from '../apply/index.ts';
import { OWNER_INDEX, withControllerReference } from '../controllers/index.ts';
import type { Caches } from '../controllers/index.ts';
import { done, formatGvk, formatTime, gvkOf, kindName, objectKey, requeueAfter } from '../kernel/index.ts';
import type { Clock, Key, KubernetesObject, Logger, PolicyRule, Result } from '../kernel/index.ts';
import { referenceOf, writeAs } from '../kubernetes/index.ts';
import type { KubernetesClient, WriteContext } from '../kubernetes/index.ts';
import type { ReconcileContext } from '../workqueue/index.ts';
import { Findings } from './findings.ts';
import type { Workload } from './workload.ts';
import { workloads } from './workloads.ts';

/** What a {@link WorkloadReconciler} works with: one workload in one member. */
export interface WorkloadReconcilerOptions {
  readonly workload: Workload;
  readonly client: KubernetesClient;
  readonly applier: Applier;
  /** Of the controller that {@link workloadController} declares. */
  readonly caches: Caches;
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
const LOOK_AGAIN = 30_000;

/** Makes the children of one object what they shall be and reports how they are. */
export class WorkloadReconciler {
  /** What all workloads together need in a member. */
  static readonly rules: readonly PolicyRule[] = workloads.flatMap((workload) => workload.rules);

  readonly #options: WorkloadReconcilerOptions;

  constructor(options: WorkloadReconcilerOptions) {
    this.#options = options;
  }

  /** Runs for one object of the workload's kind. An object that is gone or going is the garbage collector's. */
  async reconcile(key: Key, context: ReconcileContext): Promise<Result> {
    const { workload, caches } = this.#options;
    const object = caches(workload.kind.gvk).get(`${key.namespace}/${key.name}`);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return done;
    if (this.#isForeign(object) || object.metadata.annotations?.[RECONCILE_ANNOTATION] === 'disabled') return done;

    const run = this.#runFor(object, context);
    const rendered = workload.render(object).map((child) => withControllerReference(child, object));
    const applied = await this.#applyChildren(rendered, run);
    if (run.findings.isClean()) await this.#removeObsolete(rendered, run);
    await this.#writeStatus(applied, run, context);
    run.findings.throwWorst();
    return run.findings.isClean() ? done : requeueAfter(LOOK_AGAIN);
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
      const live = this.#options.caches(gvkOf(desired)).get(objectKey(desired));
      const applied = await run.findings.collect(() => this.#applyChild(desired, live, run));
      const child = applied ?? live;
      if (child !== undefined && isOwnedBy(child, run.owner)) present.push(child);
    }
    return present;
  }

  async #applyChild(
    desired: KubernetesObject,
    live: KubernetesObject | undefined,
    { object, owner, write, findings }: Run,
  ): Promise<KubernetesObject | undefined> {
    const ignore = ownRules(desired, childRules(object));
    const outcome = await this.#options.applier.apply({ desired, live, owner, ignore, write });
    if (!('object' in outcome)) {
      findings.addOutcome(outcome);
      return undefined;
    }
    findings.addLeft(desired, outcome.left);
    if (outcome.result === 'unchanged') return outcome.object;
    this.#options.caches(gvkOf(desired)).remember(outcome.object);
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
    const { workload, caches } = this.#options;
    const owned = workload.children.flatMap((gvk) => caches(gvk).byIndex(OWNER_INDEX, object.metadata.uid ?? ''));
    for (const live of owned.filter((child) => !wanted.has(childKey(child)))) {
      const request = { ref: referenceOf(live), live, owner, write };
      await findings.collect(() => this.#options.applier.remove(request));
    }
  }

  async #writeStatus(
    children: readonly KubernetesObject[],
    { object, findings }: Run,
    context: ReconcileContext,
  ): Promise<void> {
    const { workload, caches, client, clock } = this.#options;
    const observation = { now: formatTime(clock.now()), problems: findings.problems(), left: findings.left() };
    const status = workload.health(object, children, observation);
    const written = await applyStatus(client, object, status, writeAs(STATUS_MANAGER, context));
    if (written !== undefined) caches(workload.kind.gvk).remember(written);
  }
}

function childKey(child: KubernetesObject): string {
  return `${formatGvk(gvkOf(child))} ${objectKey(child)}`;
}
