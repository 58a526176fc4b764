/**
 * Operators for Atoll's own kinds, run from outside over a member's informers: one folder a kind (`render`, `health`),
 * one reconciler for all of them.
 *
 * Guarantees:
 * - What a kind needs is rendered purely: equal objects give equal children, to the byte. Children are owned by
 *   `ownerReferences`, so that the member's garbage collector removes them with their owner; Atoll adds no finalizer.
 * - Children are applied by `apply/`'s rules: nothing is written when all is in sync, what a person changed is taken
 *   back, what is not ours is left and reported. A child that is not rendered any more is removed, but only after
 *   everything that is rendered has been applied.
 * - The status is written once per run and only when it differs. Messages are constant texts, transition times are
 *   kept, so that a quiet cluster causes no write.
 *
 * On failure: what an API server refuses for good (validation) becomes phase Failed with the field's path, and the key
 * waits for a change; what is refused for now (rights, a name that is taken) becomes a condition and is tried again;
 * anything else is thrown, and the queue retries with backoff.
 *
 * A name taken by a foreign object is looked at again every 30 s, by a read: such objects are not watched.
 *
 * @module
 */
export * from './workload-controller.ts';
export * from './workload-reconciler.ts';
export * from './workload.ts';
export * from './workloads.ts';
