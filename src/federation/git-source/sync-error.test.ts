import { describe, expect, it } from 'vitest';
import {
  ApiError,
  BadRequestError,
  ConflictError,
  ForbiddenError,
  InvalidError,
  KindNotFoundError,
  NotFoundError,
  TooManyRequestsError,
  UnauthorizedError,
  UnknownFieldError,
  UnreachableError,
} from '../../kubernetes/index.ts';
import { isRefusal, summarize } from './sync-error.ts';

const gvk = { group: 'example.org', version: 'v1', kind: 'Thing' };

describe('the answer of an API server', () => {
  it.each<[string, unknown, boolean]>([
    ['an invalid object', new InvalidError('no', [], { status: 422 }), true],
    ['a missing right', new ForbiddenError('no', { status: 403 }), true],
    ['a malformed object', new BadRequestError('no', { status: 400 }), true],
    ['an unknown field', new UnknownFieldError('no', { status: 500 }), true],
    ['a kind that is not served', new KindNotFoundError('no', gvk), true],
    ['a missing namespace', new NotFoundError('no', { status: 404 }), true],
    ['a webhook that says no in its own way', new ApiError('no', { status: 418 }), true],
    ['no answer', new UnreachableError('no', 'TIMEOUT'), false],
    ['an unhappy server', new ApiError('no', { status: 500 }), false],
    ['throttling', new TooManyRequestsError('no', 1, { status: 429 }), false],
    ['an optimistic lock', new ConflictError('no', { status: 409 }), false],
    ['credentials that are not accepted', new UnauthorizedError('no', { status: 401 }), false],
    ['an error of our own', new TypeError('no'), false],
  ])('%s: a refusal is %j', (_, error, expected) => {
    expect(isRefusal(error)).toBe(expected);
  });
});

describe('a summary of problems', () => {
  it('names the first five, and how many more there are', () => {
    const problems = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    expect(summarize(problems.slice(0, 5))).toBe('a; b; c; d; e');
    expect(summarize(problems)).toBe('a; b; c; d; e; and 2 more');
  });
});
