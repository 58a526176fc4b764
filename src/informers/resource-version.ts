const DECIMAL = /^(?:0|[1-9]\d*)$/;

/**
 * Compares two resourceVersions of one kind and server: negative when `a` is older than `b`, 0 when they are the same,
 * positive when it is newer. `undefined` when either is no decimal number: then nothing but equality may be read from
 * them. Source: KEP-5504, comparable resource versions; numbers may exceed 2^53.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
