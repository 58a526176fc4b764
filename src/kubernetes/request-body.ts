import { formatExact } from '../kernel/index.ts';
import { UnsendableError } from './unsendable-error.ts';

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
  const text = formatExact(value);
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
