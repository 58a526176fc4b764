/** Fields that may be undefined, where the result leaves them out. */
type MaybeUndefined<T> = { readonly [Field in keyof T]: T[Field] | undefined };

/**
 * The fields that have a value. JSON has no undefined, and neither have the optional fields of Atoll's types; this
 * turns "may be undefined" into "may be absent".
 */
export function compact<T extends object>(fields: MaybeUndefined<Required<T>>): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
