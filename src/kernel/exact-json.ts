import type { Json } from './kubernetes-object.ts';

type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => Json;
const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): unknown };

/** A number of at least 16 digits: the shortest that can exceed 2^53. In a string it costs time, not correctness. */
const LONG_INTEGER = /(?:^|[:,[])\s*-?\d{16}/;
const INTEGER = /^-?\d+$/;

/**
 * JSON.parse that does not round: integers between 2^53 and 2^63 become bigint. What is beyond 64 bits was a float for
 * Go's decoders too, and stays one.
 *
 * A reviver makes parsing about twice as slow, so it is used only where the text may hold such a number.
 *
 * @throws SyntaxError, or RangeError when the text is nested too deeply
 */
export function parseExact(text: string): Json {
  return LONG_INTEGER.test(text) ? parseWithSource(text, exactInteger) : (JSON.parse(text) as Json);
}

/** JSON.stringify that writes bigint as digits. */
export function formatExact(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(member.toString()) : member,
  );
}

function exactInteger(_key: string, value: unknown, { source = '' }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !INTEGER.test(source)) return value;
  const integer = BigInt(source);
  return BigInt.asIntN(64, integer) === integer ? integer : value;
}
