import { AssertionError } from 'node:assert';
import { LeaseLostError, TerminalError, WaitingError } from '../kernel/index.ts';
import type { Result } from '../kernel/index.ts';

/** What happens to a key after a run. */
export type Move =
  /** Nothing: the key comes back only when something adds it. */
  | { readonly kind: 'leave' }
  /** Its failures no longer count. */
  | { readonly kind: 'forget' }
  /** Its failures no longer count, and it comes back after a time. */
  | { readonly kind: 'requeueAfter'; readonly milliseconds: number }
  /** It comes back after its backoff, which grows. */
  | { readonly kind: 'backOff' }
  /** It comes back soon, and the run does not count. */
  | { readonly kind: 'putBack'; readonly milliseconds: number };

/** What a run amounts to. */
export interface Outcome {
  /** The label `result` of controller_runtime_reconcile_total. */
  readonly result: 'success' | 'error' | 'requeue' | 'requeue_after';
  readonly move: Move;
}

/** What a JavaScript engine, or an assertion, throws when the code is wrong. */
const PANICS = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError, URIError, AssertionError];

/** Long enough not to spin while a lost lease is being noticed, short enough not to be felt. */
const PUT_BACK_AFTER = 1000;

/** The outcome of a run that returned. */
export function outcomeOfResult(result: Result): Outcome {
  return result.kind === 'done'
    ? { result: 'success', move: { kind: 'forget' } }
    : { result: 'requeue_after', move: { kind: 'requeueAfter', milliseconds: result.milliseconds } };
}

/** The outcome of a run that threw. */
export function outcomeOfError(error: unknown): Outcome {
  if (error instanceof TerminalError) return { result: 'error', move: { kind: 'leave' } };
  if (error instanceof WaitingError) return { result: 'requeue', move: { kind: 'backOff' } };
  if (error instanceof LeaseLostError) {
    return { result: 'requeue', move: { kind: 'putBack', milliseconds: PUT_BACK_AFTER } };
  }
  return { result: 'error', move: { kind: 'backOff' } };
}

/**
 * Whether what a run threw is what a panic is in Go: a mistake in the code and no state of the world. That is what is no
 * Error at all, and what the engine throws by itself; rooms wrap what libraries throw of these on purpose.
 */
export function isPanic(error: unknown): boolean {
  return !(error instanceof Error) || PANICS.some((type) => error instanceof type);
}
