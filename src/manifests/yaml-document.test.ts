import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { DocumentError } from './document-error.ts';
import { splitDocuments } from './document-splitter.ts';
import { defaultManifestLimits } from './manifest-limits.ts';
import { parseDocument } from './yaml-document.ts';

/** What kubectl's own decoder makes of an input. */
interface GoldenCase {
  readonly name: string;
  readonly input: string;
  readonly documents: readonly string[];
  readonly error?: string;
}

const golden = JSON.parse(readFileSync(new URL('./kubectl-decoder.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly GoldenCase[];
};

/** kubectl takes the last of two equal keys, silently; here that is a mistake. */
const REFUSED_ON_PURPOSE = new Set(['dup key nested', 'JSON dup key']);

function parseAll(input: string): unknown[] {
  const { documents, errors } = splitDocuments(input);
  const [error] = errors;
  if (error !== undefined) throw new DocumentError(error.message, 0);
  return documents
    .map(({ text }) => parseDocument(text, defaultManifestLimits).value)
    .filter((value) => value !== null);
}

describe('a document is read as kubectl reads it', () => {
  test.each(golden.cases.filter(({ name, error }) => error === undefined && !REFUSED_ON_PURPOSE.has(name)))(
    '$name',
    ({ input, documents }) => {
      expect(parseAll(input).map(toJson)).toEqual(documents.map((document) => toJson(parseExactly(document))));
    },
  );

  test.each(golden.cases.filter(({ name, error }) => error !== undefined || REFUSED_ON_PURPOSE.has(name)))(
    'refused: $name',
    ({ input }) => {
      expect(() => parseAll(input)).toThrow(DocumentError);
    },
  );
});

/** Integers of 64 bits stay exact; larger ones are floats to an API server. */
function parseExactly(text: string): unknown {
  const parse = JSON.parse as (
    text: string,
    reviver: (key: string, value: unknown, at: { source?: string }) => unknown,
  ) => unknown;
  return parse(text, (_key, value, { source = '' }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value;
    return BigInt(source) <= 2n ** 63n - 1n ? BigInt(source) : value;
  });
}

/** So that integers differ from their floats, and own `__proto__` fields count. */
function toJson(value: unknown): string {
  return JSON.stringify(sorted(value), (_key, member: unknown) => (typeof member === 'bigint' ? `${member}n` : member));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]): [string, unknown] => [name, sorted(member)]);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
