import { matchesLabels } from '../kernel/index.ts';
import type { KubernetesObject, LabelSelector } from '../kernel/index.ts';
import { isResync } from './object-event.ts';
import type { ObjectEvent } from './object-event.ts';

/** Whether an event is worth looking at (controller-runtime, pkg/predicate). */
export type Predicate = (event: ObjectEvent) => boolean;

/** All of them hold; without any, everything passes. The first that does not hold ends the asking. */
export function and(...predicates: readonly Predicate[]): Predicate {
  return (event) => predicates.every((predicate) => predicate(event));
}

/** One of them holds; without any, nothing passes. */
export function or(...predicates: readonly Predicate[]): Predicate {
  return (event) => predicates.some((predicate) => predicate(event));
}

/** The opposite, of all events: `not(labelsChanged)` lets no creation and no deletion pass, as upstream's does not. */
export function not(predicate: Predicate): Predicate {
  return (event) => !predicate(event);
}

/** Filters updates only: creations and deletions pass. */
export function updatesWhere(holds: (previous: KubernetesObject, current: KubernetesObject) => boolean): Predicate {
  return (event) => event.type !== 'update' || holds(event.previous, event.object);
}

/**
 * Updates of `metadata.generation`: of the spec, and, by most kinds' rules, the begin of the deletion. Not of the
 * status, of labels or of annotations; nor resyncs. An object of a kind without generations never changes it.
 */
export const generationChanged: Predicate = updatesWhere(
  (previous, current) => previous.metadata.generation !== current.metadata.generation,
);

/** Updates of anything: not resyncs. */
export const resourceVersionChanged: Predicate = updatesWhere(
  (previous, current) => previous.metadata.resourceVersion !== current.metadata.resourceVersion,
);

/** Updates of labels. */
export const labelsChanged: Predicate = updatesWhere((previous, current) =>
  differ(previous.metadata.labels, current.metadata.labels),
);

/** Updates of annotations. */
export const annotationsChanged: Predicate = updatesWhere((previous, current) =>
  differ(previous.metadata.annotations, current.metadata.annotations),
);

/** Events of objects whose labels, after an update the new ones, a selector matches. */
export function labelSelector(selector: LabelSelector): Predicate {
  return ({ object }) => matchesLabels(selector, object.metadata.labels ?? {});
}

/** Updates only, so that `and(updates, labelsChanged)` means just that. */
export const updates: Predicate = ({ type }) => type === 'update';

/** Deletions only. */
export const deletions: Predicate = ({ type }) => type === 'delete';

/** Updates that tell of no change. What shall be looked at from time to time whatever happens lets them pass. */
export const resyncs: Predicate = isResync;

function differ(
  a: Readonly<Record<string, string>> | undefined = {},
  b: Readonly<Record<string, string>> | undefined = {},
): boolean {
  const before = Object.entries(a);
  return before.length !== Object.keys(b).length || before.some(([name, value]) => b[name] !== value);
}
