import { describe, expect, test } from 'vitest';
import type { Json } from '../kernel/index.ts';
import {
  AlreadyExistsError,
  ApiError,
  BadRequestError,
  ConflictError,
  ExpiredError,
  FieldManagerConflictError,
  ForbiddenError,
  InvalidError,
  KindNotFoundError,
  NamespaceTerminatingError,
  NotFoundError,
  ResourceVersionTooLargeError,
  TooManyRequestsError,
  UnauthorizedError,
  UnknownFieldError,
} from './api-errors.ts';
import { errorFromFailure } from './api-status.ts';

const gvk = { group: 'apps', version: 'v1', kind: 'Deployment' };
const context = { what: 'apply Deployment shop/web', gvk };

/** A failure as a server of version 1.37 answered it. */
function answered(code: number, reason: string | undefined, rest: { message?: string; details?: Json } = {}): ApiError {
  const { message = 'told by the server', details = {} } = rest;
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, details, code };
  return errorFromFailure({ code, status: reason === undefined ? status : { ...status, reason }, text: '' }, context);
}

const managerCause = (message: string): Json => ({
  causes: [{ reason: 'FieldManagerConflict', message, field: '.spec.replicas' }],
});

describe('the class of a failure', () => {
  test.each([
    ['400', BadRequestError, answered(400, 'BadRequest')],
    ['401', UnauthorizedError, answered(401, 'Unauthorized')],
    ['403', ForbiddenError, answered(403, 'Forbidden')],
    [
      '403 because the namespace goes',
      NamespaceTerminatingError,
      answered(403, 'Forbidden', { details: { causes: [{ reason: 'NamespaceTerminating' }] } }),
    ],
    ['404 that names an object', NotFoundError, answered(404, 'NotFound', { details: { name: 'web' } })],
    ['404 in plain text', KindNotFoundError, errorFromFailure({ code: 404, status: undefined, text: '404' }, context)],
    ['404 that names none', KindNotFoundError, answered(404, 'NotFound')],
    ['404 of no kind', ApiError, errorFromFailure({ code: 404, status: undefined, text: '404' }, { what: 'x' })],
    ['409 of two appliers', FieldManagerConflictError, answered(409, 'Conflict', { details: managerCause('x') })],
    ['409 by name', AlreadyExistsError, answered(409, 'AlreadyExists')],
    ['409 by version', ConflictError, answered(409, 'Conflict')],
    ['410', ExpiredError, answered(410, 'Expired')],
    ['422', InvalidError, answered(422, 'Invalid')],
    ['429', TooManyRequestsError, answered(429, 'TooManyRequests')],
    [
      '500 of an apply that does not fit the schema',
      UnknownFieldError,
      answered(500, undefined, { message: 'failed to create typed patch object (/web; apps/v1): .spec.x: unknown' }),
    ],
    [
      '500 of an apply that does not fit the type',
      UnknownFieldError,
      answered(500, undefined, {
        message:
          'failed to convert new object (shop/a; /v1, Kind=Pod) to proper version: unable to convert unstructured object to /v1',
      }),
    ],
    [
      '500 of a conversion webhook that fails',
      ApiError,
      answered(500, undefined, {
        message:
          'failed to convert new object (shop/a; x/v1, Kind=X) to proper version: conversion webhook for x failed',
      }),
    ],
    [
      '504 that is a Status without its kind',
      ResourceVersionTooLargeError,
      errorFromFailure(
        {
          code: 504,
          status: { status: 'Failure', code: 504, details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
          text: '',
        },
        context,
      ),
    ],
    ['500 with a reason', ApiError, answered(500, 'InternalError', { message: 'failed to create typed patch object' })],
    ['500 for anything else', ApiError, answered(500, undefined, { message: 'etcdserver: request is too large' })],
    [
      '504 of a future version',
      ResourceVersionTooLargeError,
      answered(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }),
    ],
    ['504', ApiError, answered(504, 'Timeout')],
    ['503 in HTML', ApiError, errorFromFailure({ code: 503, status: undefined, text: '<html>' }, context)],
  ])('%s', (_behaviour, type, error) => {
    expect(error.constructor).toBe(type);
    expect(error.name).toBe(type.name);
  });
});

describe('what an error tells', () => {
  test('what was done, what the server said, status and reason', () => {
    const error = answered(403, 'Forbidden', { message: 'configmaps is forbidden' });
    expect(error.message).toBe('apply Deployment shop/web: configmaps is forbidden');
    expect(error).toMatchObject({ status: 403, reason: 'Forbidden' });
  });

  test('no more than the beginning of a page of HTML', () => {
    const error = errorFromFailure({ code: 502, status: undefined, text: 'x'.repeat(10_000) }, context);
    expect(error.message.length).toBeLessThan(300);
  });

  test('field paths of an invalid object', () => {
    const causes = [{ reason: 'FieldValueInvalid', message: 'field is immutable', field: 'spec.selector' }];
    expect(answered(422, 'Invalid', { details: { causes } })).toMatchObject({
      fields: [{ path: 'spec.selector', reason: 'FieldValueInvalid', message: 'field is immutable' }],
    });
  });

  test.each([
    ['the header', 7, 7],
    ['the body when there is no header', undefined, 3],
  ])('when to come back, from %s', (_behaviour, retryAfter, seconds) => {
    const status = { kind: 'Status', details: { retryAfterSeconds: 3 } };
    const error = errorFromFailure({ code: 429, status, text: '', retryAfter }, context);
    expect(error).toMatchObject({ retryAfterSeconds: seconds });
  });

  test('a second, when nobody says when to come back', () => {
    expect(answered(429, 'TooManyRequests')).toMatchObject({ retryAfterSeconds: 1 });
  });

  test('garbage in the details does no harm', () => {
    const details = { causes: [null, 'x', { reason: 5, field: 'a' }], name: 7 };
    expect(answered(422, 'Invalid', { details })).toMatchObject({ causes: [{ field: 'a' }], details: {} });
  });
});

describe('who holds a field', () => {
  const path = '.spec.replicas';
  test.each([
    ['an applier', 'conflict with "fed"', { manager: 'fed', operation: 'Apply', path }],
    [
      'an updater',
      'conflict with "kubectl-edit" using apps/v1 at 2026-01-01T00:00:00Z',
      { manager: 'kubectl-edit', operation: 'Update', path },
    ],
    [
      'a controller, through a subresource',
      'conflict with "hpa" with subresource "scale" using apps/v1',
      { manager: 'hpa', operation: 'Update', subresource: 'scale', path },
    ],
    ['a name with a quote', String.raw`conflict with "a\"b"`, { manager: 'a"b', operation: 'Apply', path }],
    ['a wording that is not known', 'someone else has it', { manager: 'someone else has it', path }],
  ])('%s', (_behaviour, message, conflict) => {
    expect(answered(409, 'Conflict', { details: managerCause(message) })).toMatchObject({ conflicts: [conflict] });
  });
});

describe('what a server says without bounds', () => {
  test('is kept to a length', () => {
    const causes = Array.from({ length: 5000 }, () => ({ reason: 'r', field: 'f', message: 'm'.repeat(100_000) }));
    const error = answered(422, 'Invalid', { message: 'x'.repeat(1_000_000), details: { causes: causes.slice(0, 3) } });
    expect(error.message.length).toBeLessThan(5000);
    expect(error.causes[0]?.message?.length).toBeLessThan(5000);
    expect(answered(422, 'Invalid', { details: { causes } }).causes).toHaveLength(1000);
  });

  test.each([
    ['a header', { retryAfter: 999_999_999 }, 600],
    ['a Status', { details: { retryAfterSeconds: 1e300 } }, 600],
    ['a Status in the past', { details: { retryAfterSeconds: -1 } }, 1],
  ])('leaves a server alone for 10 minutes at most: %s', (_behaviour, { retryAfter, details = {} }: Asked, seconds) => {
    const status = { kind: 'Status', reason: 'TooManyRequests', details };
    const error = errorFromFailure({ code: 429, status, text: '', retryAfter }, context);
    expect(error).toMatchObject({ retryAfterSeconds: seconds });
  });
});

interface Asked {
  readonly retryAfter?: number;
  readonly details?: Json;
}

describe('of a Secret', () => {
  const secret = { what: 'apply Secret shop/db', gvk: { group: '', version: 'v1', kind: 'Secret' } };
  const refused = (code: number, message: string, rest: Record<string, Json> = {}): ApiError =>
    errorFromFailure({ code, status: { kind: 'Status', message, ...rest }, text: '' }, secret);

  test.each([
    [
      'a value of the wrong type',
      refused(500, 'failed to create typed patch object (shop/db; /v1): .data.key: got 12345'),
    ],
    [
      'a validation',
      refused(422, 'Invalid value: 12345', { details: { causes: [{ field: 'data', message: '12345' }] } }),
    ],
    ['an admission policy', refused(403, 'secrets "db" is forbidden: policy says 12345', { reason: 'Forbidden' })],
    ['plain text', errorFromFailure({ code: 502, status: undefined, text: 'bad gateway: 12345' }, secret)],
    [
      'a name that looks like the authorizer',
      refused(403, '12345 secrets "x" is forbidden: User "a" cannot get resource "secrets" in API group ""'),
    ],
  ])('%s is not repeated', (_behaviour, error) => {
    expect(JSON.stringify([error.message, error.causes, error.details, error])).not.toContain('12345');
    expect(error.message).toContain('apply Secret shop/db');
  });

  test('the path of a value that does not fit is told', () => {
    const error = refused(500, 'failed to create typed patch object (shop/db; /v1, Kind=Secret): .data.key: got 12345');
    expect(error).toBeInstanceOf(UnknownFieldError);
    expect(error.message).toContain('.data.key');
  });

  test('the authorizer’s sentence is', () => {
    const sentence =
      'secrets "db" is forbidden: User "jane" cannot get resource "secrets" in API group "" in the namespace "a"';
    expect(refused(403, sentence).message).toBe(`apply Secret shop/db: ${sentence}`);
  });

  test('conflicts name manager and path', () => {
    const details = {
      causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "other"', field: '.data.key' }],
    };
    expect(refused(409, 'Apply failed', { details })).toMatchObject({
      conflicts: [{ manager: 'other', path: '.data.key' }],
    });
  });

  test('a kind of the same name in another group is another kind', () => {
    const other = { group: 'test.example', version: 'v1', kind: 'Secret' };
    const error = errorFromFailure(
      { code: 422, status: { kind: 'Status', message: 'told' }, text: '' },
      { what: 'x', gvk: other },
    );
    expect(error.message).toBe('x: told');
  });
});
