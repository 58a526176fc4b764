import type { GitLimits } from './git-limits.ts';

/** How to be let in, and whom to trust: the keys of Flux's Git Secrets. */
export interface GitCredentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Sent as `Authorization: Bearer`; excludes username and password. */
  readonly bearerToken?: string | undefined;
  /** PEM. When given, only these authorities are trusted for this repository. */
  readonly ca?: string | undefined;
}

/** Which branch of which repository. */
export interface PollRequest {
  /** `https://host/path`, without user information. */
  readonly url: string;
  /** The branch's own name, without `refs/heads/`. */
  readonly branch: string;
  readonly credentials: GitCredentials;
  /** Milliseconds for the whole job, waiting for its turn not counted. */
  readonly timeout: number;
}

/** What is to be read of a branch. */
export interface ReadRequest extends PollRequest {
  /** The folder whose files are read, relative to the repository's root; "", "." and "./" are the root. */
  readonly path: string;
  readonly limits?: Partial<GitLimits> | undefined;
  /** What a poll just answered: saves the read its own poll. The branch may have moved since; the answer names what was read. */
  readonly expectedOid?: string | undefined;
  /** Handed to the child's `parse` as it is; plain JSON. */
  readonly parseOptions?: unknown;
}

/** One commit, read whole and parsed. */
export interface Reading<Content> {
  /** "main@sha1:<40 hex>" */
  readonly revision: string;
  readonly oid: string;
  /** What the child's `parse` made of the snapshot. */
  readonly content: Content;
}

/** Reads repositories. Every failure is a {@link GitError}. */
export interface GitReader<Content> {
  /** The commit that the branch is at. */
  poll(request: PollRequest): Promise<{ readonly oid: string }>;
  /** The commit that the branch is at, with all files below the path, or an error: never a part. */
  read(request: ReadRequest): Promise<Reading<Content>>;
  /** Ends the child processes and removes the clones. Jobs that have not ended are rejected. */
  close(): Promise<void>;
}
