import { expect, test } from 'vitest';
import { isRepeated, retryAfterOf } from './retry-rules.ts';

const read = { isRead: true, retryAfter: 1, repetitions: 0, left: 10_000 };
const write = { ...read, isRead: false };

test.each([
  ['a read that is to come later', { ...read, status: 429 }, true],
  ['a read of a server that is not ready', { ...read, status: 503 }, true],
  [
    'a read of a server that failed and does not say when to come back',
    { ...read, status: 503, retryAfter: undefined },
    false,
  ],
  ['a read of a version that the server does not have', { ...read, status: 504 }, false],
  ['a read that is to come at once', { ...read, status: 429, retryAfter: 0 }, true],
  ['a read that would not be back in time', { ...read, status: 429, retryAfter: 10 }, false],
  ['a read for the tenth time', { ...read, status: 429, repetitions: 9 }, true],
  ['a read for the eleventh time', { ...read, status: 429, repetitions: 10 }, false],
  ['a read that found nothing', { ...read, status: 404 }, false],
  ['a write that is to come later', { ...write, status: 429 }, true],
  ['a write that is to come much later', { ...write, status: 429, retryAfter: 6 }, false],
  ['a write for the third time', { ...write, status: 429, repetitions: 2 }, false],
  ['a write that may have been carried out', { ...write, status: 503 }, false],
])('%s', (_, facts, expected) => {
  expect(isRepeated(facts)).toBe(expected);
});

test.each([
  ['5', 5],
  ['0', 0],
  ['', undefined],
  [undefined, undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
])('Retry-After %j is %j', (header, seconds) => {
  expect(retryAfterOf(header)).toBe(seconds);
});
