import type { GroupVersionKind, Json } from '../kernel/index.ts';
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
  WebhookUnavailableError,
} from './api-errors.ts';
import type { ApiErrorOptions, FieldConflict, StatusCause, StatusDetails } from './api-errors.ts';
import { isFields } from './fields.ts';
import type { Fields } from './fields.ts';
import { repeatable } from './withheld-words.ts';

/** What was being done when an API server answered with a failure. */
export interface CallContext {
  /** "apply ConfigMap shop/settings", the beginning of the message. */
  readonly what: string;
  /** The kind that was addressed, where one was: a 404 that is not about an object then means that it is not served. */
  readonly gvk?: GroupVersionKind;
}

/** A failure as it came: HTTP status (or the code of an ERROR event), Status object if it was one, the text otherwise. */
export interface Failure {
  readonly code: number;
  readonly status: Json | undefined;
  readonly text: string;
  /** Seconds after which the server's header asks to come back. */
  readonly retryAfter?: number | undefined;
  /** It came as an event of a watch, and so says nothing about the path. */
  readonly isEvent?: boolean;
}

interface Facts extends Required<Omit<ApiErrorOptions, 'cause'>> {
  readonly status: number;
  readonly reason: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly details: StatusDetails;
  /** What the server said, word by word: to look at, not to pass on. */
  readonly words: string;
  readonly isEvent: boolean;
  readonly message: string;
}

type Classify = (facts: Facts, context: CallContext) => ApiError | undefined;

/** A server that asks to come back without saying when is asked again after a second. */
const DEFAULT_RETRY_AFTER = 1;
/** No server is left alone for longer because it says so; a timer of more than 24 days would not even wait. */
const MAX_RETRY_AFTER = 600;
/** Of what a server says this much is kept: it goes into logs and conditions. */
const MAX_MESSAGE_LENGTH = 4096;
const MAX_TEXT_LENGTH = 256;
const MAX_CAUSES = 1000;

/** The typed error for a failed call. Tells failures of one code apart by reason and causes, as client-go does. */
export function errorFromFailure(failure: Failure, context: CallContext): ApiError {
  const facts = factsOf(failure, context);
  return CLASSES[facts.status]?.(facts, context) ?? new ApiError(facts.message, facts);
}

function factsOf(failure: Failure, { what, gvk }: CallContext): Facts {
  const { code, status, text, isEvent = false } = failure;
  const body = isStatus(status) ? status : undefined;
  const details = isFields(body?.['details']) ? body['details'] : {};
  const words = textOf(body?.['message']) ?? (text.trim().slice(0, MAX_TEXT_LENGTH) || 'no further information');
  const said = { message: words, reason: textOf(body?.['reason']), causes: causesOf(details['causes']) };
  const { message, reason, causes } = repeatable(said, gvk);
  return {
    status: code,
    reason,
    causes,
    details: withRetryAfter(detailsOf(details), failure),
    words,
    isEvent,
    message: `${what}: ${message}`,
  };
}

const CLASSES: Readonly<Record<number, Classify>> = {
  400: (facts) => new BadRequestError(facts.message, facts),
  401: (facts) => new UnauthorizedError(facts.message, facts),
  403: (facts) =>
    facts.causes.some((cause) => cause.reason === 'NamespaceTerminating')
      ? new NamespaceTerminatingError(facts.message, facts)
      : new ForbiddenError(facts.message, facts),
  404: notFound,
  409: conflict,
  410: (facts) => new ExpiredError(facts.message, facts),
  422: (facts) => new InvalidError(facts.message, facts.causes.map(invalidField), facts),
  429: (facts) =>
    new TooManyRequestsError(facts.message, facts.details.retryAfterSeconds ?? DEFAULT_RETRY_AFTER, facts),
  500: (facts) => misfit(facts) ?? webhookAway(facts),
  504: (facts) => (isTooLarge(facts) ? new ResourceVersionTooLargeError(facts.message, facts) : undefined),
};

/** Without a Status it is the router that answers, in plain text: it knows no such resource (yet). */
function notFound(facts: Facts, { gvk, what }: CallContext): ApiError | undefined {
  if (facts.reason === 'NotFound' && facts.details.name !== undefined) return new NotFoundError(facts.message, facts);
  if (gvk === undefined || facts.isEvent) return undefined;
  return new KindNotFoundError(`${what}: the server does not serve this kind`, gvk, facts);
}

/** Three things are answered as 409, and only causes and reason tell which. */
function conflict(facts: Facts): ApiError {
  const fields = facts.causes.filter((cause) => cause.reason === 'FieldManagerConflict');
  if (fields.length > 0) return new FieldManagerConflictError(facts.message, fields.map(fieldConflict), facts);
  if (facts.reason === 'AlreadyExists') return new AlreadyExistsError(facts.message, facts);
  return new ConflictError(facts.message, facts);
}

/**
 * apply's conversions to the schema, and then to the server's own type, fail without a reason (kubernetes/kubernetes#122480).
 * Only the text shows it. A conversion webhook that fails says something else: that passes.
 */
const MISFIT =
  /^failed to (create typed patch object|convert new object .* to proper version: unable to convert unstructured object to )/s;

function misfit(facts: Facts): ApiError | undefined {
  return facts.reason === undefined && MISFIT.test(facts.words)
    ? new UnknownFieldError(facts.message, facts)
    : undefined;
}

/** The API server says InternalError of a webhook that it cannot reach, as of much else. Only the text shows it. */
function webhookAway(facts: Facts): ApiError | undefined {
  return facts.reason === 'InternalError' && facts.words.includes('failed calling webhook')
    ? new WebhookUnavailableError(facts.message, facts)
    : undefined;
}

function isTooLarge({ causes }: Facts): boolean {
  return causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');
}

function invalidField({ field = '', reason = '', message = '' }: StatusCause): InvalidError['fields'][number] {
  return { path: field, reason, message };
}

// conflict with "NAME" [with subresource "SUB"] [using VERSION [at TIME]]; "using" is printed for updates only.
const CONFLICT = /^conflict with ("(?:[^"\\]|\\.)*")(?: with subresource "([^"]*)")?( using )?/;

function fieldConflict({ field = '', message = '' }: StatusCause): FieldConflict {
  const [, manager, subresource, using] = CONFLICT.exec(message) ?? [];
  if (manager === undefined) return { manager: message, path: field };
  return {
    manager: unquote(manager),
    operation: using === undefined ? 'Apply' : 'Update',
    ...(subresource !== undefined && { subresource }),
    path: field,
  };
}

/** Go's %q; its escapes for unprintable characters are not JSON's, such a name stays quoted. */
function unquote(quoted: string): string {
  return /\\[^"\\]/.test(quoted) ? quoted : quoted.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}

function withRetryAfter(details: StatusDetails, { retryAfter }: Failure): StatusDetails {
  if (retryAfter === undefined) return details;
  return { ...details, retryAfterSeconds: Math.min(retryAfter, MAX_RETRY_AFTER) };
}

function causesOf(causes: Json | undefined): readonly StatusCause[] {
  if (!Array.isArray(causes)) return [];
  return causes
    .slice(0, MAX_CAUSES)
    .filter(isFields)
    .map((cause) => texts(cause, ['reason', 'message', 'field']));
}

function detailsOf(details: Fields): StatusDetails {
  const { retryAfterSeconds } = details;
  return {
    ...texts(details, ['name', 'group', 'kind', 'uid']),
    ...(typeof retryAfterSeconds === 'number' &&
      retryAfterSeconds >= 0 && { retryAfterSeconds: Math.min(retryAfterSeconds, MAX_RETRY_AFTER) }),
  };
}

function texts<Field extends string>(record: Fields, fields: readonly Field[]): { [F in Field]?: string } {
  const found: { [F in Field]?: string } = {};
  for (const field of fields) {
    const text = textOf(record[field]);
    if (text !== undefined) found[field] = text;
  }
  return found;
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_MESSAGE_LENGTH) : undefined;
}

/** The server's own time-out answers a Status without its kind. */
function isStatus(value: Json | undefined): value is Fields {
  if (!isFields(value)) return false;
  return value['kind'] === 'Status' || (value['kind'] === undefined && value['status'] === 'Failure');
}
