/**
 * A branch of a Git repository, read whole and never trusted.
 *
 * **What it guarantees.** A {@link Reading} is one commit with every file that the filter wants below the path, each
 * object's name recomputed from its bytes; or there is a {@link GitError} whose reason says why not. Nothing that a
 * repository or its server does costs more than a child process: packs are indexed and YAML is parsed there, under limits of
 * bytes, objects, files, memory and time ({@link GitLimits}). Credentials go to the child through its pipe, to the one
 * host of the URL over verified TLS, and nowhere else: not to arguments, environment, disk, messages, or a redirect.
 *
 * **How.** `GitProcess` (the parent) checks each request, lets one read at a time work on a clone, and hands jobs to
 * up to two children. A child reads one repository at a time, and polls many meanwhile; when a read
 * takes its child with it, the polls are run again. `runGitChild` (the child) works as follows:
 *
 * ```
 *  poll      ls-refs with the branch as prefix, its name matched whole: two requests
 *  fetch     the first time a snapshot (depth 1), later what is new; the answer is buffered under the byte limit,
 *            cut into packet lines and its pack scanned before isomorphic-git sees it or anything is written
 *  pin       the commit that came must be the one that was polled, or the one a second poll names
 *  walk      trees and blobs from the object database; unchanged files come from memory
 *  parse     the caller's `parse`, under the same limits of time and memory
 * ```
 *
 * **When something fails.** Whatever is damaged (truncated, wrong checksum, missing object) is thrown away and cloned
 * afresh, once; after that the error stands until the next job, which starts afresh again. A clone whose job was
 * killed is thrown away by the next one. The server is never asked twice because it refused; waiting is the caller's.
 *
 * **Numbers.** Measured on two cores, for manifests of 800 bytes: a first read of 2,000 takes 2.5 s, one of 20,000 22 s; a
 * read after one commit 0.2 s, or 0.8 s; a poll 50 ms. The child peaks at 270 and at 480 MiB; the parent's event loop is
 * never held for more than 100 ms.
 *
 * @module
 */
export { GitError, type GitErrorOptions, type GitErrorReason } from './git-error.ts';
export type { GitLimits } from './git-limits.ts';
export type { GitCredentials, GitReader, PollRequest, Reading, ReadRequest } from './git-reader.ts';
export { GitProcess, scriptBeside, type GitProcessOptions } from './git-process.ts';
export type { ChildMemory } from './child-handle.ts';
export { runGitChild, type GitChildHandlers } from './git-child.ts';
export type { SnapshotFilter } from './snapshot-reader.ts';
