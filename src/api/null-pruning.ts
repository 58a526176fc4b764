import { z } from 'zod';

/**
 * The value without the fields that are null where the schema has no place for null. An API server drops these before
 * it validates: `resources:` with nothing below it, or `creationTimestamp: null`, are everyday YAML.
 */
export function withoutNulls(schema: z.core.$ZodType, value: unknown): unknown {
  const bare = unwrap(schema);
  if (Array.isArray(value)) {
    return bare instanceof z.ZodArray ? value.map((item: unknown) => withoutNulls(bare.element, item)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, field]): [string, unknown, z.core.$ZodType | undefined] => [name, field, fieldSchema(bare, name)])
      .filter(([, field, of]) => field !== null || of === undefined || of instanceof z.ZodUnknown)
      .map(([name, field, of]) => [name, of === undefined ? field : withoutNulls(of, field)]),
  );
}

function fieldSchema(schema: z.core.$ZodType, name: string): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject) {
    const field: z.core.$ZodType | undefined = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    return field === undefined ? undefined : unwrap(field);
  }
  return schema instanceof z.ZodRecord ? schema.valueType : undefined;
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
    ? unwrap(schema.unwrap())
    : schema;
}
