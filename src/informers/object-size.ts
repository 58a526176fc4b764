/** What a value takes beside its parts, and what a field or an item takes in its object or list; bytes, on 64 bits. */
const VALUE = 16;
const SLOT = 8;

/**
 * About how many bytes of heap a JSON value takes. It is only to say when too much is too much: strings that occur more
 * than once are counted more than once, field names not at all.
 */
export function objectSize(value: unknown): number {
  let size = 0;
  // Not recursive: how deep a value is, is up to who sent it.
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') size += VALUE + next.length;
    else if (typeof next === 'object' && next !== null) {
      const parts = Object.values(next);
      size += VALUE + parts.length * SLOT;
      for (const part of parts) open.push(part);
    }
  }
  return size;
}
