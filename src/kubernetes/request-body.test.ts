import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExact } from '../kernel/index.ts';
import { formatBody } from './request-body.ts';
import { UnsendableError } from './unsendable-error.ts';

describe('formatting', () => {
  test('any JSON value survives formatting and parsing', () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.bigInt(2n ** 53n, 2n ** 63n - 1n),
      fc.boolean(),
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('any')), fc.dictionary(fc.string(), tie('any'))),
    })).any;
    fc.assert(
      fc.property(value, (original) => {
        expect(parseExact(formatBody(original))).toEqual(original);
      }),
    );
  });

  test.each([
    ['DEL', '\u007f', String.raw`"\u007f"`],
    ['NEL, which YAML turns into a space', 'a\u0085b', String.raw`"a\u0085b"`],
    ['line separators, which eat the spaces beside them', ' \u2028 \u2029 ', String.raw`" \u2028 \u2029 "`],
    ['a byte order mark', '\ufeff', String.raw`"\ufeff"`],
    ['noncharacters', '\ufffe\uffff', String.raw`"\ufffe\uffff"`],
    ['astral characters stay raw, their escapes are refused', '😀', '"😀"'],
  ])('for a YAML parser: %s', (_behaviour, value, text) => {
    expect(formatBody(value)).toBe(text);
  });

  test('half a surrogate pair is refused with its path', () => {
    const refuse = (value: unknown) => () => formatBody(value);
    expect(refuse({ data: { list: ['ok', 'bad\ud83d'] } })).toThrow(UnsendableError);
    expect(refuse({ data: { list: ['ok', 'bad\ud83d'] } })).toThrow(/^\.data\.list\[1\]: /);
    expect(refuse({ 'x\udc00': 1 })).toThrow(UnsendableError);
  });

  test('a backslash before something that looks like half a pair is fine', () => {
    expect(parseExact(formatBody(String.raw`\ud83d`))).toBe(String.raw`\ud83d`);
  });
});
