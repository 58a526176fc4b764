import type { GitErrorReason } from './git-error.ts';
import type { GitLimits } from './git-limits.ts';
import type { GitCredentials } from './git-reader.ts';

/** What every job of a child says: checked, and complete. */
interface GitJobBase {
  readonly url: string;
  readonly branch: string;
  readonly credentials: GitCredentials;
  readonly timeout: number;
  readonly limits: GitLimits;
  readonly allowLoopback: boolean;
}

/** Ask which commit a branch is at. */
export interface PollJob extends GitJobBase {
  readonly operation: 'poll';
}

/** Read and parse a branch. */
export interface ReadJob extends GitJobBase {
  readonly operation: 'read';
  readonly path: string;
  /** Where the clone lies or will lie. */
  readonly directory: string;
  readonly expectedOid?: string | undefined;
  readonly parseOptions?: unknown;
}

/** A job, as the parent sends it. Plain JSON: it goes through a pipe. */
export type GitJob = PollJob | ReadJob;

/** A job's envelope; the number comes back with every answer. */
export interface JobMessage {
  readonly id: number;
  readonly job: GitJob;
}

/**
 * A child's answer. Content comes first, in parts that are quick to parse: `text` is a JSON list of items of the content's
 * array `field`. `result` ends the job; its `text` is the JSON of everything else.
 */
export type ChildMessage =
  | { readonly type: 'part'; readonly id: number; readonly field: string; readonly text: string }
  | { readonly type: 'result'; readonly id: number; readonly text: string }
  | { readonly type: 'error'; readonly id: number; readonly error: SentError };

/** A {@link GitError} on its way. */
export interface SentError {
  readonly reason: GitErrorReason;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
}
