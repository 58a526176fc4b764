/** What a value takes beside its parts, and what a field or an item takes in its object or list; bytes, on 64 bits. */
const VALUE = 16;
const SLOT = 8;

/**
 * About how many bytes of heap an object of JSON values takes. It is only to say when too much is too much: strings that
 * occur more than once are counted more than once, field names not at all. Takes a sixth of the time that parsing took.
 */
export function objectSize(object: object): number {
  let size = 0;
  // Not recursive: how deep an object is, is up to who sent it.
  const open: object[] = [object];
  const see = (value: unknown): void => {
    size += SLOT;
    if (typeof value === 'string') size += VALUE + value.length;
    else if (typeof value === 'object' && value !== null) open.push(value);
  };
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    size += VALUE;
    if (Array.isArray(next)) for (const item of next) see(item);
    // Quicker than Object.values, which makes a list of them.
    else for (const field in next) see((next as Readonly<Record<string, unknown>>)[field]);
  }
  return size;
}
