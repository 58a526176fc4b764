import type { Json } from '../kernel/index.ts';

/** A JSON object. */
export type Fields = { readonly [field: string]: Json };

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
