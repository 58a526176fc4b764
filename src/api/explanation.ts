import { z } from 'zod';

type Code = z.core.$ZodRawIssue['code'];
type Issue<OfCode extends Code> = Extract<z.core.$ZodRawIssue, { code: OfCode }>;

const EXPLANATIONS: { readonly [OfCode in Code]?: (issue: Issue<OfCode>) => string } = {
  unrecognized_keys: explainUnknownField,
  invalid_type: (issue) => `must be ${expectedType(issue)}, not ${show(issue.input)}`,
  invalid_value: ({ values, input }) => `must be ${values.map(show).join(' or ')}, not ${show(input)}`,
  too_big: ({ origin, maximum }) => `${limited(origin)} at most ${maximum}${unit(origin)}`,
  too_small: ({ origin, minimum }) => `${limited(origin)} at least ${minimum}${unit(origin)}`,
  invalid_format: ({ format }) => `must be a valid ${format}`,
  invalid_key: ({ issues }) => `key ${issues.map(({ message }) => message).join(', ')}`,
};

const ABSENT_VALUE: ReadonlySet<Code> = new Set<Code>(['invalid_type', 'invalid_value', 'invalid_union']);

/**
 * What is allowed, for every way in which a field can be wrong. Schemas and rules that have their own message keep it:
 * zod asks here only for the others.
 */
export function explainIssue<OfCode extends Code>(issue: z.core.$ZodRawIssue & Issue<OfCode>): string | undefined {
  if (issue.input === undefined && ABSENT_VALUE.has(issue.code)) return 'is required';
  return EXPLANATIONS[issue.code]?.(issue);
}

function explainUnknownField({ inst }: Issue<'unrecognized_keys'>): string {
  const known = inst instanceof z.ZodObject ? Object.keys(inst.shape) : [];
  return known.length === 0 ? 'is not a field: nothing may be here' : `is not a field; allowed: ${known.join(', ')}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a map of fields',
  record: 'a map',
  array: 'a list',
  string: 'a string',
  boolean: 'true or false',
  int: 'an integer',
  number: 'a number',
};

function expectedType({ expected, inst }: Issue<'invalid_type'>): string {
  const name = inst instanceof z.ZodNumberFormat ? 'int' : expected;
  return TYPE_NAMES[name] ?? name;
}

function limited(origin: string): string {
  return origin === 'number' || origin === 'int' ? 'must be' : 'must have';
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}

/** A value, short and on one line. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
