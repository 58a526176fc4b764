import { z } from 'zod';

import { FORM } from './structural-schema.ts';

/**
 * A string of at most `limit` characters in a form that a pattern checks and words tell: "a DNS label". The words are what
 * the local validation answers and what `kubectl explain` shows; an API server answers with the pattern.
 */
export function textSchema(limit: number, pattern: RegExp, form: string): z.ZodString {
  return z
    .string()
    .max(limit)
    .regex(pattern, `must be ${form}`)
    .meta({ [FORM]: form });
}
