import { describe, expect, it } from 'vitest';
import { isSameValue } from './same-value.ts';

describe('a value as it was sent and as it is printed', () => {
  it.each<[string, unknown, unknown]>([
    ['a quantity in thousandths', '1000m', '1'],
    ['a quantity in binary and whole', '1Gi', '1024Mi'],
    ['a quantity with a fraction', '0.5', '500m'],
    ['a quantity with an exponent', '1e3', '1k'],
    ['a quantity as a number', 1, '1'],
    ['a time with an offset', '2026-01-01T01:00:00+01:00', '2026-01-01T00:00:00Z'],
    ['an empty map and none', {}, undefined],
    ['an empty list and none', [], undefined],
    ['an empty text and none', '', undefined],
    ['false and none', false, undefined],
    ['a map with defaults beside it', { a: 1 }, { a: 1, b: 2 }],
    ['a list of maps with defaults', [{ a: 1 }], [{ a: 1, b: 2 }]],
    ['an integer beyond 2^53', 9_007_199_254_740_993n, 9_007_199_254_740_993n],
  ])('%s is the same', (_, sent, live) => {
    expect(isSameValue(sent, live)).toBe(true);
  });

  it.each<[string, unknown, unknown]>([
    ['another text', 'a', 'b'],
    ['another amount', '1000m', '2'],
    ['a unit in another case', '1m', '1M'],
    ['an amount and a text', '1', 'one'],
    ['another time', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'],
    ['a map without a field', { a: 1, b: 2 }, { a: 1 }],
    ['a list with one item more', [1], [1, 2]],
    ['a list in another order', [1, 2], [2, 1]],
    ['a list and a map', [], { a: 1 }],
    ['an integer beyond 2^53', 9_007_199_254_740_993n, 9_007_199_254_740_992n],
    ['something and nothing', 'a', undefined],
  ])('%s is another', (_, sent, live) => {
    expect(isSameValue(sent, live)).toBe(false);
  });
});
