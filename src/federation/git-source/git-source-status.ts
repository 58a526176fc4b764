import type { GitSource } from '../../api/index.ts';
import { mergeConditions, requestedAt } from '../../kernel/index.ts';
import type { ConditionDraft } from '../../kernel/index.ts';
import type { SyncResult } from './sync-revision.ts';

/** How a sync ended. */
export type SyncOutcome =
  | { readonly kind: 'synced'; readonly revision: string; readonly result: SyncResult }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly message: string;
      readonly revision: string | undefined;
    };

/** The status of a source after a sync. A failure keeps the revision that was applied last, and says so. */
export function gitSourceStatus(
  source: GitSource,
  outcome: SyncOutcome,
  now: string,
): NonNullable<GitSource['status']> {
  const before = source.status;
  const observedGeneration = source.metadata.generation ?? 0;
  const handled = requestedAt(source);
  const drafts = conditionsOf(outcome, before?.appliedRevision).map((draft) => ({ ...draft, observedGeneration }));
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
  return outcome.revision === undefined
    ? {}
    : { observedRevision: outcome.revision, attemptedRevision: outcome.revision };
}

function conditionsOf(outcome: SyncOutcome, applied: string | undefined): Omit<ConditionDraft, 'observedGeneration'>[] {
  if (outcome.kind === 'synced') {
    return [{ type: 'Ready', status: 'True', reason: 'Succeeded', message: `applied revision ${outcome.revision}` }];
  }
  const kept = applied === undefined ? 'nothing is applied' : `kept revision ${applied}`;
  return [{ type: 'Ready', status: 'False', reason: outcome.reason, message: `${outcome.message} (${kept})` }];
}
