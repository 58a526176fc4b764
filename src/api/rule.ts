import type { z } from 'zod';

/** A constraint between fields, told twice: to the API server as CEL, to the local validation as a predicate. */
export interface Rule<Value> {
  /** The CEL expression; `self` is the value that the rule stands at. */
  readonly cel: string;
  /** The field below `self` that is wrong, when it is one: ['metadata', 'name']. */
  readonly field?: readonly string[];
  /** What the user reads, after the field, when it does not hold. */
  readonly message: string;
  readonly holds: (value: Value) => boolean;
}

/** An entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
}

/** Adds rules to a schema. They are looked at only when the value has the right shape, as in the API server. */
export function withRules<Schema extends z.ZodType>(
  schema: Schema,
  ...rules: readonly Rule<z.output<Schema>>[]
): Schema {
  const checked = rules.reduce<Schema>(
    (current, { holds, message, field = [] }) =>
      current.refine(holds, { error: message, path: [...field], when: hasRightShape }),
    schema,
  );
  return declare(
    checked,
    rules.map(({ cel, message, field = [] }) => ({ rule: cel, message: [field.join('.'), message].join(' ').trim() })),
  );
}

/** Whether nothing but rules has been broken so far, so that a predicate can rely on the form of what it sees. */
function hasRightShape({ issues }: z.core.ParsePayload): boolean {
  return issues.every(({ code }) => code === 'custom');
}

/** Adds a rule that only the API server needs, because the schema itself tells the local validation. */
export function withCel<Schema extends z.ZodType>(schema: Schema, cel: string, message: string): Schema {
  return declare(schema, [{ rule: cel, message }]);
}

/** Lets a field be set only when its object is created. Only the API server sees the old value, so only CEL says it. */
export function fixedAtCreation<Schema extends z.ZodType>(schema: Schema): Schema {
  return withCel(schema, 'self == oldSelf', 'cannot be changed after creation');
}

function declare<Schema extends z.ZodType>(schema: Schema, added: readonly ValidationRule[]): Schema {
  const present = (schema.meta()?.['x-kubernetes-validations'] ?? []) as readonly ValidationRule[];
  return schema.meta({ 'x-kubernetes-validations': [...present, ...added] });
}
