import type { Json } from '../kernel/index.ts';
import { UnsendableError } from './unsendable-error.ts';

// What Node 24 has and TypeScript's es2024 library does not know yet.
type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => Json;
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** A number of at least 16 digits: the shortest that can exceed 2^53. In a string it costs time, not correctness. */
const LONG_INTEGER = /(?:^|[:,[])\s*-?\d{16}/;
const INTEGER = /^-?\d+$/;

/**
 * JSON.parse that does not round: integers beyond 2^53 become bigint.
 *
 * A reviver makes parsing about twice as slow, so it is used only where the text may hold such a number.
 *
 * @throws SyntaxError, or RangeError when the text is nested too deeply
 */
export function parseJson(text: string): Json {
  return LONG_INTEGER.test(text) ? parseWithSource(text, exactInteger) : (JSON.parse(text) as Json);
}

function exactInteger(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return INTEGER.test(source) ? BigInt(source) : value;
}

/**
 * An API server parses an apply body as YAML 1.1 even when it is JSON. There these characters are refused (DEL, C1
 * controls, noncharacters) or silently changed (NEL becomes a space, spaces around line separators vanish), unless
 * they are escaped. JSON means the same either way, so all bodies are escaped.
 */
const UNSAFE_IN_YAML = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** How JSON.stringify writes half of a surrogate pair; also what an escaped backslash before "ud800" looks like. */
const MAYBE_LONE_SURROGATE = /\\ud[89a-f]/;

/**
 * The body of a request: JSON with exact integers that also survives a YAML parser.
 *
 * @throws UnsendableError naming the path of a text that is not well-formed Unicode: servers replace it or refuse it
 */
export function formatBody(value: unknown): string {
  const text = JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(member.toString()) : member,
  );
  if (MAYBE_LONE_SURROGATE.test(text)) refuseLoneSurrogates(value, '');
  return text.replaceAll(UNSAFE_IN_YAML, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function refuseLoneSurrogates(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return;
    throw new UnsendableError(`${path}: the text holds half of a surrogate pair, which no API server stores`);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [field, member] of Object.entries(value)) {
    const memberPath = Array.isArray(value) ? `${path}[${field}]` : `${path}.${field}`;
    refuseLoneSurrogates(field, memberPath);
    refuseLoneSurrogates(member, memberPath);
  }
}
