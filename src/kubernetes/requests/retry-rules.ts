/** An answer, as far as it decides whether the call is repeated. */
export interface RetryFacts {
  readonly status: number;
  /** Seconds that the server asks for; see {@link retryAfterOf}. */
  readonly retryAfter: number | undefined;
  readonly isRead: boolean;
  /** How often the call was repeated already. */
  readonly repetitions: number;
  /** Milliseconds that are left of what the call may take. */
  readonly left: number;
}

/** client-go's bound for everything that names a time to come back. */
const MAX_READ_REPETITIONS = 10;

/** A write waits less: its caller holds a worker and a lease. */
const MAX_WRITE_REPETITIONS = 2;
const MAX_WRITE_WAIT_SECONDS = 5;

/**
 * Whether a call is sent again when the server has answered so, after the time that the server asks for.
 *
 * A 429 was not carried out, so a write may follow it too. A 5xx may have been carried out, so only reads follow it.
 * Not a 504, which is about the version that was asked for: the reader has better things to do than to ask the same again.
 */
export function isRepeated({ status, retryAfter, isRead, repetitions, left }: RetryFacts): boolean {
  if (retryAfter === undefined) return false;
  if (isRead) {
    const isAsked = status === 429 || (status >= 500 && status !== 504);
    return isAsked && repetitions < MAX_READ_REPETITIONS && retryAfter * 1000 < left;
  }
  return status === 429 && repetitions < MAX_WRITE_REPETITIONS && retryAfter <= MAX_WRITE_WAIT_SECONDS;
}

/** The seconds of a Retry-After header. A date is not read, as client-go does not: no decision compares two clocks. */
export function retryAfterOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}
