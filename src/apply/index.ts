/**
 * One object at a time: from what is wanted to one server-side apply, or to none.
 *
 * Guarantees:
 * - **No write when in sync.** An object is in sync when it bears the hash of exactly what is wanted and our field
 *   manager still owns every field of it (`managedFields`: whoever changes a field of ours takes it away from us). Both
 *   are read from the object, so a cold start decides without a request, and nothing is remembered between calls.
 * - **Nothing foreign is touched.** With an owner given, an object without a valid mark of that owner is neither
 *   changed nor deleted, unless it is unmarked and adoption was asked for. A mark names the object it was made for:
 *   copied to another object, it counts for nothing.
 * - **Nothing is resurrected or mistaken.** An apply to an existing object carries its UID; an apply that shall create
 *   fails when the object has appeared meanwhile; a delete carries UID and resourceVersion.
 * - **Nobody's field is taken by surprise.** Applies are unforced. What a person edited by hand is taken back by one
 *   forced apply that is tied to the state it was decided on; what another manager holds is reported.
 *
 * On failure the API server's error is thrown as it came. `WaitingError` means that the object is between two states
 * (appeared, vanished, being deleted): trying again later is the remedy.
 *
 * ```
 *  live? ──no──▶ GET ──absent──▶ create-only apply ───────────────────────────────▶ created
 *   │             │present                                                           ▲
 *   ▼             ▼                                                        unforced ─┴▶ updated │ unchanged
 *  ours? ──no──▶ foreign     in sync? ──yes──▶ unchanged     held by? ──▶     │ conflict
 *   └──yes─────────────────────▲   └──no──────────────────────▲  └─ people ─▶ forced (drift)
 * ```
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
