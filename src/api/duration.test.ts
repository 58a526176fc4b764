import { describe, expect, it } from 'vitest';

import { parseDuration } from './duration.ts';

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5s', 1500],
    ['1m', 60_000],
    ['1h30m', 5_400_000],
  ])('reads %s as %i milliseconds', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each(['', '10', '1d', '-1s', '1m ', 'm'])('refuses %j', (text) => {
    expect(() => parseDuration(text)).toThrow(RangeError);
  });
});
