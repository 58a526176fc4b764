import type { GroupVersionKind, Json, KubernetesObject } from '../kernel/index.ts';
import { apiVersionOf, parseExact } from '../kernel/index.ts';
import { UnexpectedAnswerError } from './api-errors.ts';
import { errorFromFailure } from './api-status.ts';
import type { CallContext } from './api-status.ts';
import type { Answer } from './transport.ts';

/** A JSON object. */
export type Fields = { readonly [field: string]: Json };

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON object that a successful answer holds. @throws ApiError of the failure's class, UnexpectedAnswerError */
export function readFields(answer: Answer, context: CallContext): Fields {
  if (answer.status >= 400) {
    const { status: code, text } = answer;
    throw errorFromFailure({ code, status: tryParse(text), text, retryAfter: answer.header('retry-after') }, context);
  }
  const value = parse(answer.text, context);
  if (!isFields(value)) throw new UnexpectedAnswerError(`${context.what}: the answer is no JSON object`);
  return value;
}

/** The object of the asked kind that a successful answer holds. */
export function readObject(
  answer: Answer,
  context: CallContext & { readonly gvk: GroupVersionKind },
): KubernetesObject {
  const fields = readFields(answer, context);
  if (isObjectOf(context.gvk, fields)) return fields;
  throw new UnexpectedAnswerError(`${context.what}: the answer is no ${context.gvk.kind}`);
}

/** Whether a JSON object is of this kind and has metadata with a name. */
export function isObjectOf(gvk: GroupVersionKind, fields: Fields): fields is Fields & KubernetesObject {
  const { metadata } = fields;
  const isKind = fields['kind'] === gvk.kind && fields['apiVersion'] === apiVersionOf(gvk);
  return isKind && isFields(metadata) && typeof metadata['name'] === 'string' && metadata['name'] !== '';
}

/** Parses an answer. @throws UnexpectedAnswerError when it is no JSON */
export function parse(text: string, context: CallContext): Json {
  try {
    return parseExact(text);
  } catch (cause) {
    throw new UnexpectedAnswerError(`${context.what}: the answer is not JSON`, { cause });
  }
}

/** A failure may come as a Status or as plain text; the latter is no failure of reading. */
function tryParse(text: string): Json | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
