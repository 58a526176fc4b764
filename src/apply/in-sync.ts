import type { KubernetesObject } from '../kernel/index.ts';
import { decideApply } from './apply-decision.ts';
import { wantedObject } from './desired-object.ts';
import { FIELD_MANAGERS } from './field-holders.ts';

/**
 * Whether an apply has nothing to do, by the live object alone and at first sight: it is the last applied state, and every
 * field is ours or left to somebody. Fields that admission rewrites are taken for so.
 */
export function isInSync(desired: KubernetesObject, live: KubernetesObject, fieldManager: string): boolean {
  const decision = decideApply({
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
  return decision.action === 'none';
}
