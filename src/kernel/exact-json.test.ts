import { assert, constantFrom, json, property } from 'fast-check';
import { describe, expect, test } from 'vitest';

import { formatExact, parseExact } from './exact-json.ts';
import type { Json } from './kubernetes-object.ts';

test.each([
  ['integers of 64 bits', { big: 9_007_199_254_740_993n, small: 1, list: [-9_223_372_036_854_775_808n, 2] }],
  [
    'texts like structure',
    { 'a{[":,]}': 9_007_199_254_740_993n, b: ['\\', '\\"', '\\\\'], c: '9007199254740993,[', '': {} },
  ],
  ['floats', { half: 0.5, large: 1.8e19, text: '9007199254740993' }],
  ['fields of any name', JSON.parse('{"__proto__":{"a":1},"constructor":null}') as unknown],
])('%s survive the way', (_what, value) => {
  expect(parseExact(formatExact(value))).toEqual(value);
});

describe('parsing', () => {
  test.each([
    ['the largest exact number stays a number', '9007199254740991', 9007199254740991],
    ['one more is exact as bigint', '9007199254740993', 9007199254740993n],
    ['a negative one too', '-9223372036854775808', -9223372036854775808n],
    ['beyond 64 bits it is a float, as in Go', '123456789012345678901234567890', 1.2345678901234568e29],
    ['a fraction stays a number', '1234567890123456.5', 1234567890123456.5],
    ['an exponent stays a number', '1e30', 1e30],
  ])('%s', (_behaviour, text, value) => {
    expect(parseExact(text)).toBe(value);
    expect(parseExact(`{"a": [ ${text}]}`)).toEqual({ a: [value] });
  });

  test('long digits in a text are no number', () => {
    expect(parseExact('{"a":"x:12345678901234567890"}')).toEqual({ a: 'x:12345678901234567890' });
  });

  test('what nests too deeply for a recursion is read', () => {
    let found = parseExact(`${'{"a":['.repeat(5000)}9007199254740993${']}'.repeat(5000)}`);
    while (typeof found === 'object') [found] = (found as { a: [Json] }).a;
    expect(found).toBe(9007199254740993n);
  });

  test('everything else of a text with a long integer is what JSON.parse makes of it', () => {
    assert(
      property(json({ stringUnit: 'binary' }), constantFrom('', ' ', '\n  '), (text, space) => {
        const value = JSON.parse(text) as unknown;
        const spaced = `${space}[${space}1234567890123456789${space},${JSON.stringify(value, undefined, space)}]${space}`;
        const [integer, found] = parseExact(spaced) as [unknown, unknown];
        expect(integer).toBe(1234567890123456789n);
        expect(roundedAgain(found)).toEqual(value);
      }),
    );
  });

  test('the last of two fields of one name counts, and __proto__ is a field', () => {
    const parsed = parseExact('{"a":9007199254740993,"a":1,"__proto__":{"b":9007199254740993}}');
    expect(Object.entries(parsed as object)).toEqual([
      ['a', 1],
      ['__proto__', { b: 9007199254740993n }],
    ]);
  });

  test('what is no JSON throws', () => {
    expect(() => parseExact('{"a":')).toThrow(SyntaxError);
  });
});

/** A parsed value with floats where JSON.parse has them. */
function roundedAgain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(roundedAgain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, member]) => [field, roundedAgain(member)]));
}
