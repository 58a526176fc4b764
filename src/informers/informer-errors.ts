import { AtollError } from '../kernel/index.ts';

/** An informer that was released by all who asked for it, or whose factory was stopped, is of no use any more. */
export class InformerStoppedError extends AtollError {
  override name = 'InformerStoppedError';
}

/** A watch on which nothing came for long, not even a bookmark. */
export class WatchIdleError extends AtollError {
  override name = 'WatchIdleError';
}

/** A watch that ended without an event right after it began, or a streamed list that ended before its end. */
export class WatchCutShortError extends AtollError {
  override name = 'WatchCutShortError';
}

/** The server's storage is at an older version than what was read from it: it was restored from a backup. */
export class ServerBehindError extends AtollError {
  override name = 'ServerBehindError';
}

/** A server has, or pretends to have, more objects than this process has room for. */
export class MemoryLimitError extends AtollError {
  override name = 'MemoryLimitError';
}
