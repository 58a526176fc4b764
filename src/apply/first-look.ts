import type { KubernetesObject } from '../kernel/index.ts';
import { decideApply } from './apply-decision.ts';
import { wantedObject } from './desired-object.ts';
import { emptiedMaps } from './emptied-maps.ts';
import { FIELD_MANAGERS } from './field-holders.ts';
import { valueAt, withValue } from './field-path.ts';
import type { LeftField } from './leaf-verdict.ts';

/** An object at first sight. */
export interface FirstLook {
  /** An apply has nothing to do. */
  readonly inSync: boolean;
  /** Fields that others hold. */
  readonly left: readonly LeftField[];
}

/**
 * What an apply would do, by the live object alone: nothing when it is the last applied state, and every field is ours or
 * left to somebody. Fields that admission rewrites are taken for so.
 */
export function firstLook(desired: KubernetesObject, live: KubernetesObject, fieldManager: string): FirstLook {
  const { action, left } = decideApply({
    wanted: wantedObject(desired),
    live,
    fieldManager,
    managers: FIELD_MANAGERS,
    force: false,
    adopting: false,
    conflicts: [],
    isFlipping: () => false,
    isUsual: ({ why }) => why === 'rewritten',
  });
  return { inSync: action === 'none', left };
}

/**
 * What can be sent as a dry run in place of a desired object. An apply that empties a map is refused unless the map was
 * emptied before, which a dry run cannot do: there the map keeps what it has.
 */
export function rehearsal(
  desired: KubernetesObject,
  live: KubernetesObject | undefined,
  fieldManager: string,
): KubernetesObject {
  const { body } = wantedObject(desired);
  if (live === undefined) return body;
  return emptiedMaps(body, live, fieldManager).reduce(
    (object, path) => withValue(object, path, valueAt(live, path)),
    body,
  );
}
