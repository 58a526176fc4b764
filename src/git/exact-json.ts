// What Node 24 has and TypeScript's es2024 library does not know yet.
type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => unknown;
const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): unknown };

/** What a number beyond 2^53 looks like. A string may look so too: that costs time, not correctness. */
const LONG_INTEGER = /(?:^|[:,[])-?\d{16}/;
const INTEGER = /^-?\d+$/;

/** JSON.stringify that writes bigint as digits. */
export function formatExact(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(member.toString()) : member,
  );
}

/** JSON.parse that reads integers beyond 2^53 as bigint; what is beyond 64 bits was a float, and is one again. */
export function parseExact(text: string): unknown {
  return LONG_INTEGER.test(text) ? parseWithSource(text, exactInteger) : JSON.parse(text);
}

function exactInteger(_key: string, value: unknown, { source = '' }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !INTEGER.test(source)) return value;
  const integer = BigInt(source);
  return BigInt.asIntN(64, integer) === integer ? integer : value;
}
