/** What a reconcile answers when it did not throw. Only `workqueue/` turns it into queue moves. */
export type Result = { readonly kind: 'done' } | { readonly kind: 'requeueAfter'; readonly milliseconds: number };

/** Nothing more to do until an event names the key again. */
export const done: Result = { kind: 'done' };

/** Look at the key again after a time, without counting it as a failure. */
export function requeueAfter(milliseconds: number): Result {
  return { kind: 'requeueAfter', milliseconds };
}
