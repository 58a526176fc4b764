import type { Json } from './kubernetes-object.ts';

const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): unknown };

/** A number of at least 16 digits: the shortest that can exceed 2^53. In a string it costs time, not correctness. */
const LONG_INTEGER = /(?:^|[:,[])\s*-?\d{16}/;
const INTEGER = /^-?\d+$/;
const SCALAR = /[^\s,\]}]+/y;

type Container = Json[] | { [field: string]: Json };

/**
 * JSON.parse that does not round: integers between 2^53 and 2^63 become bigint. What is beyond 64 bits was a float for
 * Go's decoders too, and stays one.
 *
 * Only a text that may hold such a number is read a second time, for the digits. That goes without recursion, as JSON.parse
 * itself does and its reviver does not: an API server stores what is 10,000 levels deep.
 *
 * @throws SyntaxError
 */
export function parseExact(text: string): Json {
  const value = JSON.parse(text) as Json;
  return LONG_INTEGER.test(text) ? readExact(text) : value;
}

/** JSON.stringify that writes bigint as digits. */
export function formatExact(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(member.toString()) : member,
  );
}

/** The value of a text that is known to be JSON. */
function readExact(text: string): Json {
  const root: Json[] = [];
  const open: Container[] = [root];
  let key: string | undefined;
  for (const token of tokensOf(text)) {
    const parent = open.at(-1) ?? root;
    if (token === '}' || token === ']') open.pop();
    else if (!Array.isArray(parent) && key === undefined) key = JSON.parse(token) as string;
    else {
      const value = valueOf(token);
      add(parent, key ?? '', value);
      key = undefined;
      if (token === '{' || token === '[') open.push(value as Container);
    }
  }
  return root[0] as Json;
}

/** All of a JSON text but its space, commas and colons: where a key is and where a value, follows from the brackets. */
function* tokensOf(text: string): Generator<string, void> {
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    let end = at + 1;
    if (character === '"') end = endOfString(text, end);
    else if (!' \t\r\n,:{}[]'.includes(character)) {
      SCALAR.lastIndex = at;
      SCALAR.test(text);
      end = SCALAR.lastIndex;
    }
    if (!' \t\r\n,:'.includes(character)) yield text.slice(at, end);
    at = end;
  }
}

/** Where the string that begins before `from` ends, behind its quote. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

function valueOf(token: string): Json {
  if (token === '{') return {};
  if (token === '[') return [];
  const value = JSON.parse(token) as Json;
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !INTEGER.test(token)) return value;
  const integer = BigInt(token);
  return BigInt.asIntN(64, integer) === integer ? integer : value;
}

/** Like JSON.parse: a field named `__proto__` is one like the others. */
function add(object: Container, field: string, value: Json): void {
  if (Array.isArray(object)) object.push(value);
  else if (field !== '__proto__') object[field] = value;
  else Object.defineProperty(object, field, { value, enumerable: true, configurable: true, writable: true });
}
