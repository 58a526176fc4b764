import { AtollError } from '../../kernel/index.ts';
import { ApiError, KindNotFoundError, UnknownFieldError } from '../../kubernetes/index.ts';

/** Why a source could not be synced; the reason becomes that of its Ready condition. What was applied before stays. */
export class SyncError extends AtollError {
  override name = 'SyncError';
  readonly reason: string;
  /** The revision that was attempted, when it got so far. */
  readonly revision: string | undefined;
  /** Milliseconds after which another look may find what was missing; undefined when only a change can help. */
  readonly retryAfter: number | undefined;

  constructor(
    reason: string,
    message: string,
    options: ErrorOptions & { readonly revision?: string; readonly retryAfter?: number } = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.revision = options.revision;
    this.retryAfter = options.retryAfter;
  }
}

/** One line for any number of problems: the first few in full, then how many more there are. */
export function summarize(problems: readonly string[]): string {
  const shown = problems.slice(0, 5).join('; ');
  return problems.length > 5 ? `${shown}; and ${problems.length - 5} more` : shown;
}

/** Statuses of the 4xx that can pass by themselves: credentials, time-outs, optimistic locks, throttling. */
const PASSING = [401, 408, 409, 429];

/** Whether an API server refused an object for what it is: the same answer would come again. */
export function isRefusal(error: unknown): error is ApiError {
  if (error instanceof UnknownFieldError || error instanceof KindNotFoundError) return true;
  const status = error instanceof ApiError ? (error.status ?? 0) : 0;
  return status >= 400 && status < 500 && !PASSING.includes(status);
}
