import type { Clock, Logger, Metrics } from '../kernel/index.ts';
import { GitError } from './git-error.ts';
import type { GitLimits } from './git-limits.ts';
import type { GitReader, PollRequest, Reading, ReadRequest } from './git-reader.ts';

/** Options of {@link GitProcess}. */
export interface GitProcessOptions {
  /** The script that calls `runGitChild`; see {@link scriptBeside}. */
  readonly childScript: URL;
  /** Where the clones lie; a new folder in it, removed on close. Default: the system's folder for temporary files. */
  readonly directory?: string | undefined;
  /** Also connect to loopback, private and link-local addresses (labs, demos, an in-house Git server). Default: no. */
  readonly allowLoopback?: boolean | undefined;
  readonly limits?: Partial<GitLimits> | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Reads repositories in child processes, so that a hostile pack or a YAML bomb costs a child, never the controller. */
export class GitProcess<Content> implements GitReader<Content> {
  readonly #options: GitProcessOptions;

  constructor(options: GitProcessOptions) {
    this.#options = options;
  }

  poll(request: PollRequest): Promise<{ readonly oid: string }> {
    return Promise.reject(
      new GitError('InternalError', `${request.url}: ${this.#options.childScript.href} is not run`),
    );
  }

  read(request: ReadRequest): Promise<Reading<Content>> {
    return Promise.reject(
      new GitError('InternalError', `${request.url}: ${this.#options.childScript.href} is not run`),
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The script of that name beside a module, with the module's own ending: `.ts` when run from source, `.js` from `dist`. */
export function scriptBeside(moduleUrl: string, name: string): URL {
  return new URL(`./${name}${moduleUrl.endsWith('.ts') ? '.ts' : '.js'}`, moduleUrl);
}
