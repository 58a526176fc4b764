import { expect, test } from 'vitest';

import { formatExact, parseExact } from './exact-json.ts';

test.each([
  ['integers of 64 bits', { big: 9_007_199_254_740_993n, small: 1, list: [-9_223_372_036_854_775_808n, 2] }],
  ['floats', { half: 0.5, large: 1.8e19, text: '9007199254740993' }],
  ['fields of any name', JSON.parse('{"__proto__":{"a":1},"constructor":null}') as unknown],
])('%s survive the way', (_what, value) => {
  expect(parseExact(formatExact(value))).toEqual(value);
});
