import { expect, test } from 'vitest';
import { compareResourceVersions } from './resource-version.ts';

test.each([
  ['9', '10', -1],
  ['10', '9', 1],
  ['10', '10', 0],
  ['0', '1', -1],
  ['9007199254740993', '9007199254740992', 1],
  ['18446744073709551616', '18446744073709551615', 1],
])('%s and %s', (a, b, expected) => {
  expect(Math.sign(compareResourceVersions(a, b) ?? Number.NaN)).toBe(expected);
});

test.each([
  ['', '1'],
  ['1', 'v2'],
  ['01', '1'],
  ['-1', '1'],
  ['1e3', '1'],
  ['1.0', '1'],
])('%j and %j cannot be compared', (a, b) => {
  expect(compareResourceVersions(a, b)).toBeUndefined();
  expect(compareResourceVersions(b, a)).toBeUndefined();
});
