import { createHmac, randomBytes, X509Certificate } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Clock, Counter, Histogram, Logger, Metrics } from '../kernel/index.ts';
import { branchReference } from './branch-name.ts';
import type { ChildMemory } from './child-handle.ts';
import { ChildPool, type JobResult } from './child-pool.ts';
import { GitError } from './git-error.ts';
import type { GitJob } from './git-job.ts';
import { defaultGitLimits, type GitLimits } from './git-limits.ts';
import type { GitCredentials, GitReader, PollRequest, Reading, ReadRequest } from './git-reader.ts';
import { KeyedTurns } from './keyed-turns.ts';
import { checkRepositoryUrl } from './repository-url.ts';
import { splitPath } from './tree-path.ts';

/** Clones on disk; beyond it the one not read longest goes. */
const CLONES = 200;
/** Twice what the default limits need: 20,000 manifests of 800 bytes peak at 480 MiB. */
const MEMORY: ChildMemory = { heapMebibytes: 512, residentMebibytes: 1024 };

/** Options of {@link GitProcess}. */
export interface GitProcessOptions {
  /** The script that calls `runGitChild`; see {@link scriptBeside}. */
  readonly childScript: URL;
  /** Where the folder of the clones is made. Default: the system's folder for temporary files. */
  readonly directory?: string | undefined;
  /** Also connect to loopback addresses (labs, demos). Link-local ones, with the metadata services, are always refused. */
  readonly allowLoopback?: boolean | undefined;
  readonly limits?: Partial<GitLimits> | undefined;
  readonly memory?: ChildMemory | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Reads repositories in child processes, so that a hostile pack or a YAML bomb costs a child, never the controller. */
export class GitProcess<Content> implements GitReader<Content> {
  readonly #options: GitProcessOptions;
  readonly #limits: GitLimits;
  readonly #turns = new KeyedTurns();
  /** Names the clones: no name tells, or can be made from, a URL and credentials. */
  readonly #secret = randomBytes(32);
  readonly #clones = new Set<string>();
  readonly #operations: Counter;
  readonly #durations: Histogram;
  readonly #received: Counter;
  #running: { readonly directory: string; readonly pool: ChildPool } | undefined;
  #closed = false;

  constructor(options: GitProcessOptions) {
    this.#options = options;
    this.#limits = { ...defaultGitLimits, ...options.limits };
    this.#operations = options.metrics.counter({
      name: 'atoll_git_operations_total',
      help: 'Polls and reads of Git repositories, by result: success or the reason of the failure.',
      labelNames: ['operation', 'result'],
    });
    this.#durations = options.metrics.histogram({
      name: 'atoll_git_operation_duration_seconds',
      help: 'How long polls and reads of Git repositories took, waiting for a child process included.',
      labelNames: ['operation'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    });
    this.#received = options.metrics.counter({
      name: 'atoll_git_received_bytes_total',
      help: 'Bytes that Git servers answered to successful polls and reads.',
      labelNames: ['operation'],
    });
  }

  async poll(request: PollRequest): Promise<{ readonly oid: string }> {
    return this.#measure('poll', async () => {
      const { pool } = this.#open();
      const result = await pool.run({ operation: 'poll', ...this.#check(request), limits: this.#limits });
      this.#received.inc({ operation: 'poll' }, Number(result['received']));
      return { oid: result['oid'] as string };
    });
  }

  async read(request: ReadRequest): Promise<Reading<Content>> {
    return this.#measure('read', async () => {
      const source = this.#check(request);
      const path = splitPath(request.path).join('/');
      const { pool, directory } = this.#open();
      const clone = join(directory, this.#cloneName(source));
      const result = await this.#turns.run(clone, async () => {
        await this.#keep(clone);
        const { expectedOid, parseOptions } = request;
        const limits = { ...this.#limits, ...request.limits };
        return pool.run({ operation: 'read', ...source, path, directory: clone, limits, expectedOid, parseOptions });
      });
      this.#received.inc({ operation: 'read' }, Number(result['received']));
      return readingOf<Content>(result);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#running === undefined) return;
    const { directory, pool } = this.#running;
    await pool.close();
    await rm(directory, { recursive: true, force: true });
  }

  #open(): { readonly directory: string; readonly pool: ChildPool } {
    if (this.#closed) throw new GitError('InternalError', 'Atoll is stopping');
    if (this.#running === undefined) {
      const { childScript: script, memory = MEMORY, clock, logger } = this.#options;
      const directory = mkdtempSync(join(this.#options.directory ?? tmpdir(), 'atoll-git-'));
      this.#running = { directory, pool: new ChildPool({ script, directory, memory, clock, logger }) };
    }
    return this.#running;
  }

  #check({ url, branch, credentials, timeout }: PollRequest): CheckedSource {
    branchReference(branch);
    checkAuthorities(credentials);
    const { allowLoopback = false } = this.#options;
    return { url: checkRepositoryUrl(url), branch, credentials, timeout, allowLoopback };
  }

  /** Whoever comes with other credentials gets another clone: what one may see is not another's to read. */
  #cloneName({ url, branch, credentials }: CheckedSource): string {
    return createHmac('sha256', this.#secret)
      .update(JSON.stringify([url, branch, credentials]))
      .digest('hex');
  }

  /** Notes that a clone is used, and removes the one that was not for longest when there are too many. */
  async #keep(clone: string): Promise<void> {
    this.#clones.delete(clone);
    this.#clones.add(clone);
    const [oldest] = this.#clones;
    if (this.#clones.size <= CLONES || oldest === undefined) return;
    this.#clones.delete(oldest);
    await this.#turns.run(oldest, () => rm(oldest, { recursive: true, force: true }));
  }

  async #measure<Result>(operation: GitJob['operation'], work: () => Promise<Result>): Promise<Result> {
    const { clock } = this.#options;
    const start = clock.monotonic();
    try {
      const result = await work();
      this.#operations.inc({ operation, result: 'success' });
      return result;
    } catch (error) {
      this.#operations.inc({ operation, result: error instanceof GitError ? error.reason : 'InternalError' });
      throw error;
    } finally {
      this.#durations.observe({ operation }, (clock.monotonic() - start) / 1000);
    }
  }
}

type CheckedSource = Pick<GitJob, 'url' | 'branch' | 'credentials' | 'timeout' | 'allowLoopback'>;

function readingOf<Content>({ oid, revision, content }: JobResult): Reading<Content> {
  return { oid: oid as string, revision: revision as string, content: content as Content };
}

function parseCertificate(pem: string): X509Certificate {
  return new X509Certificate(pem);
}

/** TLS would take anything for an authority, and then trust nobody without saying why. */
function checkAuthorities({ ca }: GitCredentials): void {
  if (ca === undefined) return;
  try {
    parseCertificate(ca);
  } catch (error) {
    throw new GitError('InvalidSource', 'the certificate authority is not a certificate in PEM', { cause: error });
  }
}

/** The script of that name beside a module, with the module's own ending: `.ts` when run from source, `.js` from `dist`. */
export function scriptBeside(moduleUrl: string, name: string): URL {
  return new URL(`./${name}${moduleUrl.endsWith('.ts') ? '.ts' : '.js'}`, moduleUrl);
}
