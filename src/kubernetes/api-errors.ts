import { AtollError } from '../kernel/index.ts';
import type { GroupVersionKind } from '../kernel/index.ts';

/** An entry of `details.causes` of a Status. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** `details` of a Status: which object the answer is about. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly retryAfterSeconds?: number;
}

/** What is known about a failed call. */
export interface ApiErrorOptions {
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly details?: StatusDetails | undefined;
  readonly cause?: unknown;
}

/** A call to an API server failed. Recognise the kind of failure by class, else by {@link status}. */
export class ApiError extends AtollError {
  override name = 'ApiError';
  /** HTTP status, or the code of an ERROR event; absent when nothing was answered. */
  readonly status: number | undefined;
  /** `reason` of the Status, where the answer was one. */
  readonly reason: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly details: StatusDetails;

  constructor(message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.status = options.status;
    this.reason = options.reason;
    this.causes = options.causes ?? [];
    this.details = options.details ?? {};
  }
}

/** 400: the request itself is wrong (unknown field on create or update, duplicate key, wrong type). Permanent. */
export class BadRequestError extends ApiError {
  override name = 'BadRequestError';
}

/** 401: the credentials are not (any longer) accepted. */
export class UnauthorizedError extends ApiError {
  override name = 'UnauthorizedError';
}

/** 403: RBAC, quota or an admission plug-in says no; the message names verb and resource. */
export class ForbiddenError extends ApiError {
  override name = 'ForbiddenError';
}

/** 403 because the namespace is being deleted: nothing can be created in it, which passes by itself. */
export class NamespaceTerminatingError extends ForbiddenError {
  override name = 'NamespaceTerminatingError';
}

/** 404 by Status: the object (or, says `details.kind`, its namespace) does not exist, while its kind is served. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** The API server certainly does not serve this kind (now): its CRD is not there, or not established yet. */
export class KindNotFoundError extends ApiError {
  override name = 'KindNotFoundError';
  readonly gvk: GroupVersionKind;

  constructor(message: string, gvk: GroupVersionKind, options: ApiErrorOptions = {}) {
    super(message, options);
    this.gvk = gvk;
  }
}

/** 409: an object of this name is there already. */
export class AlreadyExistsError extends ApiError {
  override name = 'AlreadyExistsError';
}

/** 409: the object changed since it was read (resourceVersion), or is another one (UID precondition). Read again. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}

/** A field that an unforced apply could not take. */
export interface FieldConflict {
  readonly manager: string;
  /** What kind of write made the manager the owner; absent when the server's wording is not known. */
  readonly operation?: 'Apply' | 'Update';
  readonly subresource?: string;
  /** Path in structured-merge-diff's notation: `.spec.template.spec.containers[name="c"].image`. */
  readonly path: string;
}

/** 409: other field managers own fields that the apply wants different. Repeating it changes nothing. */
export class FieldManagerConflictError extends ApiError {
  override name = 'FieldManagerConflictError';
  readonly conflicts: readonly FieldConflict[];

  constructor(message: string, conflicts: readonly FieldConflict[], options: ApiErrorOptions = {}) {
    super(message, options);
    this.conflicts = conflicts;
  }
}

/** A field that the API server did not accept. */
export interface InvalidField {
  readonly path: string;
  readonly reason: string;
  readonly message: string;
}

/** 422: validation refused the object. Permanent until object or schema change. */
export class InvalidError extends ApiError {
  override name = 'InvalidError';
  readonly fields: readonly InvalidField[];

  constructor(message: string, fields: readonly InvalidField[], options: ApiErrorOptions = {}) {
    super(message, options);
    this.fields = fields;
  }
}

/**
 * An apply that does not fit the kind's schema: unknown field, wrong type, two list items with one key, no base64, no
 * quantity, no time. The server answers 500 without a reason; it is the sender's fault all the same, and permanent.
 */
export class UnknownFieldError extends ApiError {
  override name = 'UnknownFieldError';
}

/**
 * An admission webhook did not answer (500, or 503 behind an aggregated server): it is not up yet, or broken. Passes when it
 * is up.
 */
export class WebhookUnavailableError extends ApiError {
  override name = 'WebhookUnavailableError';
}

/** 410: the resourceVersion or the continue token is too old. List again. */
export class ExpiredError extends ApiError {
  override name = 'ExpiredError';
}

/** 504: the server does not know this resourceVersion yet, or never will: its storage was restored. */
export class ResourceVersionTooLargeError extends ApiError {
  override name = 'ResourceVersionTooLargeError';
}

/** 429: try again after a while. */
export class TooManyRequestsError extends ApiError {
  override name = 'TooManyRequestsError';
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number, options: ApiErrorOptions = {}) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Nothing was answered: refused, reset, not trusted, or out of time. A write may have been carried out or not. */
export class UnreachableError extends ApiError {
  override name = 'UnreachableError';
  /** The error code of the layer below: ECONNREFUSED, ECONNRESET, DEPTH_ZERO_SELF_SIGNED_CERT; TIMEOUT is our own. */
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined, options: ApiErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** What answered does not behave like an API server: a redirect, no JSON, too large, another kind than asked for. */
export class UnexpectedAnswerError extends ApiError {
  override name = 'UnexpectedAnswerError';
}
