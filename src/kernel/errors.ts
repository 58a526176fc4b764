/** The base of every error that Atoll throws by itself; the cause is always kept. */
export class AtollError extends Error {
  override name = 'AtollError';
}

/** Trying again cannot help until something changes: the key is not retried, only looked at when its objects change. */
export class TerminalError extends AtollError {
  override name = 'TerminalError';
}

/** Something that is expected to come is not there yet: retried with backoff, not logged as an error. */
export class WaitingError extends AtollError {
  override name = 'WaitingError';
}

/** The replica does not (any longer) hold the lease that a write needs. Nothing was sent. */
export class LeaseLostError extends AtollError {
  override name = 'LeaseLostError';
}

/** The text of anything thrown, for a log field or a condition: one line, at most 1024 characters, no stack. */
export function errorMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, ' ').slice(0, 1024);
}
