import { gvkOf, kindName } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { InvalidError } from '../kubernetes/index.ts';

/** On a desired object: when a change needs it, the object may be deleted and made anew. */
const RECREATE_ANNOTATION = 'atoll.dev/recreate';
/** On a StatefulSet or a PersistentVolumeClaim, beside the other: its pods, or its data, may go with it. */
const RECREATE_DATA_ANNOTATION = 'atoll.dev/recreate-data';

/** Deleting one of these takes running members of a cluster, or data, along. */
const HOLDS_DATA: ReadonlySet<string> = new Set(['StatefulSet.apps', 'PersistentVolumeClaim.']);

/**
 * How API servers say that a field cannot change. There is no reason of its own for it: they use FieldValueInvalid and
 * FieldValueForbidden, which mean other things too, so that only the text tells.
 */
const WORDINGS: readonly RegExp[] = [
  /field is immutable/,
  /may not change once set/,
  /updates to \S+ spec for fields other than .* are forbidden/,
  /is immutable after creation/,
  /cannot change roleRef/,
  /may not be (?:changed|modified|updated)/,
];

/** The paths of the fields that a server refuses to change, when that is what it refuses. */
export function immutableFields(error: unknown): readonly string[] {
  if (!(error instanceof InvalidError)) return [];
  const fields = error.fields.filter(({ message }) => WORDINGS.some((wording) => wording.test(message)));
  return fields.map(({ path }) => path);
}

/** What an object must bear to be recreated and does not; empty when it may be. */
export function missingConsent(desired: KubernetesObject): readonly string[] {
  const needed = HOLDS_DATA.has(kindName(gvkOf(desired)))
    ? [RECREATE_ANNOTATION, RECREATE_DATA_ANNOTATION]
    : [RECREATE_ANNOTATION];
  return needed.filter((name) => desired.metadata.annotations?.[name] !== 'enabled');
}
