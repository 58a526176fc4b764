import { expect, test } from 'vitest';
import { objectSize } from './object-size.ts';

/** Bytes that a field `a` with this value adds. */
function sizeOf(value: unknown): number {
  return objectSize({ a: value }) - objectSize({});
}

test.each([
  ['a text by its length', sizeOf('x'.repeat(1000)), 1000],
  ['a name that is too long for a schema', objectSize({ ['x'.repeat(100_000)]: 0 }), 100_000],
  ['many fields, whose names are data', objectSize(fields(1000)), 1000 * 64],
  ['many empty objects', objectSize(Array.from({ length: 1000 }, () => ({}))), 1000 * 32],
  ['large integers', sizeOf(Array.from({ length: 1000 }, () => 9_007_199_254_740_993n)), 1000 * 24],
])('counts %s', (_what, size, least) => {
  expect(size).toBeGreaterThanOrEqual(least);
  expect(size).toBeLessThan(2 * least + 200);
});

test('does not count the names that objects of one kind share', () => {
  expect(objectSize({ resourceVersion: 1 })).toBe(objectSize({ a: 1 }));
});

test('copes with an object that is 100,000 levels deep', () => {
  let object: object = {};
  for (let level = 0; level < 100_000; level += 1) object = { a: object };
  expect(objectSize(object)).toBeGreaterThan(100_000);
});

function fields(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, 0]));
}
