import { parseExact } from '../kernel/index.ts';
import type { Json } from '../kernel/index.ts';
import { UnexpectedAnswerError } from './api-errors.ts';
import type { ApiError } from './api-errors.ts';
import { errorFromFailure } from './api-status.ts';
import type { CallContext } from './api-status.ts';
import { isFields } from './fields.ts';
import type { Fields } from './fields.ts';
import { retryAfterOf } from './requests/retry-rules.ts';
import type { Answer } from './transport/exchange.ts';

/** The JSON object that a successful answer holds. @throws ApiError of the failure's class, UnexpectedAnswerError */
export function readFields(answer: Answer, context: CallContext): Fields {
  if (answer.status >= 400) throw failureOf(answer, context);
  const value = parse(answer.text, context);
  if (!isFields(value)) throw new UnexpectedAnswerError(`${context.what}: the answer is no JSON object`);
  return value;
}

/** The error that an answer which is no success stands for. */
export function failureOf(answer: Answer, context: CallContext): ApiError {
  const { status: code, text } = answer;
  const retryAfter = retryAfterOf(answer.header('retry-after'));
  return errorFromFailure({ code, status: tryParse(text), text, retryAfter }, context);
}

/** Parses an answer. @throws UnexpectedAnswerError when it is no JSON */
export function parse(text: string, context: CallContext): Json {
  try {
    return parseExact(text);
  } catch {
    // The parser's message quotes the text, which may be a Secret's: it stays out, as message and as cause.
    throw new UnexpectedAnswerError(`${context.what}: the answer is not JSON`);
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
