import { isDeepStrictEqual } from 'node:util';
import type { Scope } from '../informers/index.ts';
import { formatGvk, gvkOf, keyFor, kindName } from '../kernel/index.ts';
import type { GroupVersionKind, Key, KubernetesObject } from '../kernel/index.ts';
import { Controller } from './controller.ts';
import type { ControllerDeclaration, ControllerOptions } from './controller.ts';
import { controllerOf } from './owner-references.ts';
import type { Predicate } from './predicates.ts';
import type { Source } from './source.ts';

/** Of one watched kind. */
export interface WatchOptions {
  /** Which of its objects; default all. */
  readonly scope?: Scope;
  /** An event that all of them let pass is looked at; default every event. */
  readonly predicates?: readonly Predicate[];
}

/** Of the kind that a controller is for. */
export interface ForOptions extends WatchOptions {
  /** Its objects are in no namespace. */
  readonly clusterScoped?: boolean;
}

/** Which keys are to be looked at when an object changes. It is asked of an update's both states. */
export type MapFunction = (object: KubernetesObject) => readonly Key[];

/** The kind that the keys are of, when a controller is `for` it. */
interface Owner {
  readonly gvk: GroupVersionKind;
  readonly clusterScoped: boolean;
}

/**
 * Declares what a controller watches (controller-runtime, pkg/builder):
 *
 * ```ts
 * ControllerBuilder.for(redisCluster).owns(statefulSet).watches(secret, usersOf).attach({ … });
 * ```
 *
 * A builder is a value: each call answers a new one.
 */
export class ControllerBuilder {
  readonly #declaration: ControllerDeclaration;
  readonly #owner: Owner | undefined;

  private constructor(declaration: ControllerDeclaration, owner?: Owner) {
    this.#declaration = declaration;
    this.#owner = owner;
  }

  /** For each object of a kind: its keys name the kind, and the cluster that the controller is attached to. */
  static for(gvk: GroupVersionKind, { clusterScoped = false, ...options }: ForOptions = {}): ControllerBuilder {
    const kind = kindName(gvk);
    const source = sourceOf(gvk, options, (object, cluster) => [keyFor(cluster, kind, object)]);
    return new ControllerBuilder({ kind, primary: source, sources: [source] }, { gvk, clusterScoped });
  }

  /** For keys of a kind (as {@link kindName} names it) whose objects are in another cluster: watches lead to them. */
  static of(kind: string): ControllerBuilder {
    return new ControllerBuilder({ kind, primary: undefined, sources: [] });
  }

  /**
   * A kind of objects that those that the controller is for control: a change leads to the controlling owner of the
   * same group and kind, whatever the version (EnqueueRequestForOwner, OnlyControllerOwner). The cache of the kind has
   * the index {@link OWNER_INDEX}.
   */
  owns(gvk: GroupVersionKind, options: WatchOptions = {}): ControllerBuilder {
    const owner = this.#owner;
    if (owner === undefined) throw new TypeError(`owns(${gvk.kind}) without for(): nothing is there to be the owner`);
    const kind = kindName(owner.gvk);
    return this.#with({
      ...sourceOf(gvk, options, (object, cluster) => {
        const reference = controllerOf(object);
        if (reference === undefined || kindName(gvkOf(reference)) !== kind) return [];
        const namespace = owner.clusterScoped ? '' : (object.metadata.namespace ?? '');
        return [{ cluster, kind, namespace, name: reference.name }];
      }),
      isOwned: true,
    });
  }

  /** Any kind, with a function that says which keys a change leads to (EnqueueRequestsFromMapFunc). */
  watches(gvk: GroupVersionKind, map: MapFunction, options: WatchOptions = {}): ControllerBuilder {
    return this.#with(sourceOf(gvk, options, map));
  }

  /** Begins to watch. The informers may be started before or after. @throws TypeError when nothing is watched */
  attach(options: ControllerOptions): Controller {
    const { kind, sources } = this.#declaration;
    if (sources.length === 0) throw new TypeError(`the controller of ${kind} watches nothing`);
    return new Controller(this.#declaration, options);
  }

  /** One kind in two scopes would leave it open which of them is read. */
  #with(source: Source): ControllerBuilder {
    const { sources } = this.#declaration;
    const twin = sources.find(({ gvk }) => formatGvk(gvk) === formatGvk(source.gvk));
    if (twin !== undefined && !isDeepStrictEqual(twin.scope, source.scope)) {
      throw new TypeError(`${source.gvk.kind} is watched in two scopes`);
    }
    return new ControllerBuilder({ ...this.#declaration, sources: [...sources, source] }, this.#owner);
  }
}

function sourceOf(
  gvk: GroupVersionKind,
  { scope = {}, predicates = [] }: WatchOptions,
  keysOf: Source['keysOf'],
): Source {
  return { gvk, scope, predicates, keysOf, isOwned: false };
}
