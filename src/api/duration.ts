import type { z } from 'zod';

import { withRules } from './rule.ts';
import { textSchema } from './text.ts';

const UNIT_MILLISECONDS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/**
 * Milliseconds of a duration as GitSource and other specs write it ("1m", "1h30m", "1.5s").
 * @throws RangeError when the text is not a duration: the schema has refused it before
 */
export function parseDuration(text: string): number {
  if (!DURATION.test(text)) throw new RangeError(`not a duration: ${JSON.stringify(text)}`);
  return [...text.matchAll(/([0-9.]+)(ms|s|m|h)/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * UNIT_MILLISECONDS[unit as keyof typeof UNIT_MILLISECONDS],
    0,
  );
}

const DURATION = /^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/;

/** A duration of at least `minimum`, in the form of Flux: the same text is a duration in CEL. */
export function durationSchema(minimum: string): z.ZodString {
  return withRules(textSchema(32, DURATION, 'a duration such as 30s, 5m or 1h30m'), {
    cel: `duration(self) >= duration('${minimum}')`,
    message: `must be at least ${minimum}`,
    holds: (text) => parseDuration(text) >= parseDuration(minimum),
  });
}
