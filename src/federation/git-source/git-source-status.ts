import type { GitSource } from '../../api/index.ts';
import { mergeConditions, requestedAt } from '../../kernel/index.ts';
import type { ConditionDraft } from '../../kernel/index.ts';
import { summarize } from './sync-error.ts';
import type { SyncResult } from './sync-revision.ts';

/** How a sync ended. */
export type SyncOutcome =
  | { readonly kind: 'synced'; readonly revision: string; readonly result: SyncResult }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly message: string;
      readonly revision: string | undefined;
      /** Milliseconds; undefined when the next look is soon enough. */
      readonly retryAfter?: number | undefined;
    }
  | { readonly kind: 'suspended' };

/**
 * The status of a source after a look at it. A failure keeps the revision that was applied last, and says so; a
 * suspended source keeps what its last sync said and is Suspended, a condition that exists only while it is True.
 */
export function gitSourceStatus(
  source: GitSource,
  outcome: SyncOutcome,
  now: string,
): NonNullable<GitSource['status']> {
  const before = source.status;
  const observedGeneration = source.metadata.generation ?? 0;
  const handled = requestedAt(source);
  const drafts = conditionsOf(outcome, before).map((draft) => ({ ...draft, observedGeneration }));
  return {
    ...before,
    ...revisionsOf(outcome),
    observedGeneration,
    conditions: mergeConditions(before?.conditions, drafts, now),
    ...(handled === undefined ? {} : { lastHandledReconcileAt: handled }),
  };
}

function revisionsOf(outcome: SyncOutcome): Partial<NonNullable<GitSource['status']>> {
  if (outcome.kind === 'synced') {
    const { revision, result } = outcome;
    return {
      observedRevision: revision,
      attemptedRevision: revision,
      appliedRevision: revision,
      inventory: { objects: result.objects },
    };
  }
  return outcome.kind === 'suspended' || outcome.revision === undefined
    ? {}
    : { observedRevision: outcome.revision, attemptedRevision: outcome.revision };
}

type Draft = Omit<ConditionDraft, 'observedGeneration'>;

function conditionsOf(outcome: SyncOutcome, before: GitSource['status']): Draft[] {
  switch (outcome.kind) {
    case 'synced':
      return [
        { type: 'Ready', status: 'True', reason: 'Succeeded', message: `applied revision ${outcome.revision}` },
        ...fieldsLeft(outcome.result.left),
      ];
    case 'failed': {
      const applied = before?.appliedRevision;
      const kept = applied === undefined ? 'nothing is applied' : `kept revision ${applied}`;
      return [{ type: 'Ready', status: 'False', reason: outcome.reason, message: `${outcome.message} (${kept})` }];
    }
    case 'suspended':
      return [lastReady(before), { type: 'Suspended', status: 'True', reason: 'Suspended', message: SUSPENDED }];
  }
}

/** Only while others hold fields of what was applied. */
function fieldsLeft(left: readonly string[]): Draft[] {
  if (left.length === 0) return [];
  return [{ type: 'FieldsLeft', status: 'True', reason: 'FieldsLeft', message: summarize(left) }];
}

const SUSPENDED = 'spec.suspend is set: the repository is not looked at';

function lastReady(before: GitSource['status']): Draft {
  const ready = before?.conditions?.find(({ type }) => type === 'Ready');
  return ready ?? { type: 'Ready', status: 'Unknown', reason: 'Suspended', message: SUSPENDED };
}
