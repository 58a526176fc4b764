/**
 * One object at a time: from what is wanted to one server-side apply, or to none.
 *
 * Guarantees:
 * - **No write when in sync.** Whether an apply is due is decided from the live object alone: it bears the hash of exactly
 *   what is wanted, and every field is ours (`managedFields`: whoever changes a field of ours takes it away from us), or left
 *   to somebody. So a cold start decides without a request. What an {@link Applier} remembers saves work and lets it notice
 *   what a first look cannot see; forgetting it costs at most one write for a field that goes back and forth.
 * - **Nothing foreign is touched.** With an owner given, an object without a valid mark of that owner is neither
 *   changed nor deleted, unless it is unmarked and adoption was asked for. A mark names the object it was made for:
 *   copied to another object, it counts for nothing. What was adopted is deleted only where that is asked for.
 * - **Nothing is resurrected or mistaken.** An apply to an existing object carries its UID, and the first one of an applier
 *   its resourceVersion; an apply that shall create fails when the object has appeared meanwhile; a delete carries both.
 * - **Nobody's field is taken by surprise.** What a person took from our last apply is taken back by one forced apply, tied
 *   to the state it was decided on. What an autoscaler, another applier or a controller holds is left out of what is
 *   sent, and told with path and manager. Where that cannot be, the object is blocked. `force` takes all but an
 *   autoscaler's.
 * - **Nothing is sent in vain.** What goes back and forth, comes out otherwise each time, or was refused and would be again,
 *   is left as it is. More than 1 MiB, and text that no server stores, is refused before sending.
 *
 * On failure the API server's error is thrown as it came. `WaitingError` means that the object is between two states
 * (appeared, vanished, being deleted): trying again later is the remedy. `ConflictError` is thrown only when the object
 * changed twice while it was looked at.
 *
 * ```
 *  live? ──no──▶ GET ──absent──▶ create-only apply ─────────────────────────────────────────────▶ created
 *   │             │present
 *   ▼             ▼                             ┌─ nothing due ─▶ unchanged
 *  ours? ──no──▶ foreign, or adopted ──▶ decide ┼─ held fast ───▶ blocked
 *   └──yes──────────────────────────────▲       └─ apply ──▶ refused for a conflict or a version ─▶ GET, decide once more
 *                                       │            ├─────▶ immutable, and may be made anew ─▶ delete ─▶ recreating
 *                                       │            └─────▶ updated, unchanged
 * ```
 *
 * | to find out | read |
 * | --- | --- |
 * | what is sent | `desired-object.ts`, `ignore-rules.ts`, `allocated-fields.ts`, `emptied-maps.ts` |
 * | what is decided | `apply-decision.ts`, field by field in `leaf-verdict.ts`, whose a field is in `field-holders.ts` |
 * | who owns what | `managed-fields.ts`, `field-path.ts`; `client-side-apply.ts` for handing over |
 * | what is remembered | `apply-memory.ts`, `live-digest.ts` |
 *
 * **Numbers.** 1 MiB: what API servers take in a ConfigMap or Secret, below etcd's 1.5. Two rounds back and forth, three with a
 * person, within 10 minutes of our last write. A refusal is taken for given for 10 minutes, a missing right for 50 s, so that
 * it is asked for anew in the minute after which callers look. 50,000 objects are remembered, some 300 bytes each.
 *
 * @module
 */
export { withoutAllocated } from './allocated-fields.ts';
export * from './applier.ts';
export { applyObject, describeFields } from './apply-object.ts';
export * from './apply-order.ts';
export * from './apply-request.ts';
export * from './apply-status.ts';
export { childRules, ownRules, withChildRules } from './child-rules.ts';
export { contentHash } from './canonical-json.ts';
export { APPLIED_HASH_ANNOTATION, wantedObject } from './desired-object.ts';
export type { FieldManagers } from './field-holders.ts';
export type { IgnoreRule } from './ignore-rules.ts';
export * from './first-look.ts';
export type { LeftField } from './leaf-verdict.ts';
export * from './ownership-mark.ts';
export { managedFieldsReducer } from './reduced-managed-fields.ts';
export * from './remove-object.ts';
