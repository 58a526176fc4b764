/** metav1.Condition: one aspect of an object's state. Messages carry no times and no counters, so that they are stable. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  /** RFC 3339; when `status` last changed, not when it was last looked at. */
  readonly lastTransitionTime: string;
}

/** A condition as a decision states it; the time is added by {@link mergeConditions}. */
export type ConditionDraft = Omit<Condition, 'lastTransitionTime'>;

/**
 * The conditions to write: each draft keeps the transition time of the previous condition of its type when the status
 * is the same. Types that are not drafted any more disappear (negative-polarity conditions exist only while True).
 */
export function mergeConditions(
  previous: readonly Pick<Condition, 'type' | 'status' | 'lastTransitionTime'>[] | undefined,
  drafts: readonly ConditionDraft[],
  now: string,
): Condition[] {
  return drafts.map((draft) => {
    const before = previous?.find((condition) => condition.type === draft.type);
    const lastTransitionTime = before?.status === draft.status ? before.lastTransitionTime : now;
    return { ...draft, message: draft.message.slice(0, 1024), lastTransitionTime };
  });
}
