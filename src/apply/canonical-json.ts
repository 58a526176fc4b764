import { createHash } from 'node:crypto';

/** JSON whose text depends on the content only: object fields in order of their names, bigints in full, no spaces. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`);
  return `{${fields.join(',')}}`;
}

/** 128 bits of SHA-256 over the canonical JSON, in hex: fits a label, and equal content means equal hash. */
export function contentHash(value: unknown): string {
  return hashOfText(canonicalJson(value));
}

/** The hash of a canonical JSON text. */
export function hashOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
