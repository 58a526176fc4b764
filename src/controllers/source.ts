import type { Scope } from '../informers/index.ts';
import type { ClusterName, GroupVersionKind, Key, KubernetesObject } from '../kernel/index.ts';
import type { ObjectEvent } from './object-event.ts';
import type { Predicate } from './predicates.ts';

/** One kind that a controller watches, and which keys its objects lead to. */
export interface Source {
  readonly gvk: GroupVersionKind;
  readonly scope: Scope;
  /** An event that all of them let pass is looked at. */
  readonly predicates: readonly Predicate[];
  /** Which keys an object leads to; `cluster` is where it is. */
  readonly keysOf: (object: KubernetesObject, cluster: ClusterName) => readonly Key[];
  /** Objects are looked up by the UIDs of their owners. */
  readonly isOwned: boolean;
}

/**
 * Whether an event shall be looked at. A predicate that throws is taken to let it pass: one look too many costs little,
 * a change that nobody looks at stays unseen until the next resync.
 */
export function passes(source: Source, event: ObjectEvent, onFailure: (error: unknown) => void): boolean {
  return source.predicates.every((predicate) => {
    try {
      return predicate(event);
    } catch (error) {
      onFailure(error);
      return true;
    }
  });
}

/** The keys that an event leads to: of an update those of both states, so that a former owner is looked at, too. */
export function keysOf(
  source: Source,
  event: ObjectEvent,
  cluster: ClusterName,
  onFailure: (error: unknown) => void,
): readonly Key[] {
  const isChange = event.type === 'update' && event.previous !== event.object;
  const states = isChange ? [event.previous, event.object] : [event.object];
  return states.flatMap((object) => {
    try {
      return source.keysOf(object, cluster);
    } catch (error) {
      onFailure(error);
      return [];
    }
  });
}
