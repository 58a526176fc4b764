import { hash } from 'node:crypto';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { addRemote, fetch, init, listServerRefs, readObject, resolveRef } from 'isomorphic-git';

import { branchReference } from './branch-name.ts';
import { cloneFileSystem, packUsage } from './clone-file-system.ts';
import { GitError } from './git-error.ts';
import type { GitLimits } from './git-limits.ts';
import type { HttpTransport } from './http-transport.ts';
import { scanPack } from './pack-scan.ts';
import { packOf } from './pkt-line.ts';

const OBJECT_NAME = /^[\da-f]{40}$/;
const HEADS = 'refs/heads/';
/** A file in a clone while a job works on it. */
const UNENDED = 'atoll-unended';
/** What an incremental fetch may bring: beyond it, a snapshot without history is smaller. */
const INCREMENT = { wireBytes: 8 * 1024 * 1024, objects: 10_000 };

/** An object's type and bytes. */
export interface GitObject {
  readonly type: string;
  readonly content: Buffer;
}

/** Options of {@link Repository}. */
export interface RepositoryOptions {
  readonly url: string;
  readonly branch: string;
  /** Where the bare clone lies or will lie. */
  readonly directory: string;
  readonly limits: GitLimits;
  readonly transport: HttpTransport;
}

/** One branch of a repository on a server, and its bare clone here. */
export class Repository {
  readonly #options: RepositoryOptions;
  readonly #reference: string;
  #files: ReturnType<typeof cloneFileSystem>;
  /** Holds opened packs; lives as long as a job, because it pins them in memory. */
  #cache: object = {};

  constructor(options: RepositoryOptions) {
    this.#options = options;
    this.#reference = branchReference(options.branch);
    this.#files = cloneFileSystem(options.directory);
  }

  /** The commit that the branch is at on the server. @throws GitError `BranchNotFound`, `EmptyRepository` and others */
  async poll(): Promise<string> {
    const found = await this.#listReferences(this.#reference);
    const branch = found.find(({ ref }) => ref === this.#reference);
    if (branch === undefined) {
      const any = await this.#listReferences(HEADS);
      if (any.length === 0) throw new GitError('EmptyRepository', 'the repository has no branch yet');
      throw new GitError('BranchNotFound', `the repository has no branch ${JSON.stringify(this.#options.branch)}`);
    }
    if (!OBJECT_NAME.test(branch.oid)) throw new GitError('NotGit', 'the server answers something else than Git');
    return branch.oid;
  }

  /**
   * Takes the clone for one job. What an earlier job left unended is thrown away (its process was killed, perhaps in the
   * middle of a file), and so is a clone that has gathered so many packs that a new one is better.
   */
  async claim(): Promise<void> {
    const { directory, limits } = this.#options;
    const { packs, bytes } = await packUsage(directory);
    const isWornOut = packs >= limits.packs || bytes > 2 * limits.wireBytes;
    if (isWornOut || (await isUnended(directory))) await this.remove();
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(join(directory, UNENDED), '');
  }

  /** Gives the clone back: whatever happened, its files are whole. */
  async release(): Promise<void> {
    await rm(join(this.#options.directory, UNENDED), { force: true });
  }

  /**
   * Brings the branch here, as little of it as possible: a snapshot the first time, afterwards what is new. What is new can
   * be more than a snapshot (a merge of an old branch brings all history before it): then it is a snapshot again.
   *
   * @returns the commit that was brought
   */
  async fetch(): Promise<string> {
    const { limits } = this.#options;
    if (await this.#hasKeptCommit()) {
      try {
        return await this.#fetchWithin({ ...limits, ...limitsOfIncrement(limits) });
      } catch (error) {
        if (!(error instanceof GitError && error.reason === 'LimitExceeded')) throw error;
        await this.remove();
        await this.claim();
      }
    }
    await this.#create();
    return this.#fetchWithin(limits, 1);
  }

  /** Whether an object is here. */
  async has(oid: string): Promise<boolean> {
    try {
      await this.read(oid);
      return true;
    } catch (error) {
      if (error instanceof GitError && error.reason === 'Corrupt') return false;
      throw error;
    }
  }

  /** An object, its name recomputed. @throws GitError `Corrupt` when it is absent or is not what its name says */
  async read(oid: string): Promise<GitObject> {
    const { directory } = this.#options;
    try {
      const found = await readObject({
        fs: this.#files,
        gitdir: directory,
        cache: this.#cache,
        oid,
        format: 'content',
      });
      const content = found.object as unknown as Buffer;
      const computed = hash('sha1', Buffer.concat([Buffer.from(`${found.type} ${content.length}\0`), content]), 'hex');
      if (computed !== oid) throw new GitError('Corrupt', `object ${oid} is damaged`);
      return { type: found.type, content };
    } catch (error) {
      throw gitError(error);
    }
  }

  /** Removes the clone. */
  async remove(): Promise<void> {
    this.#cache = {};
    this.#files = cloneFileSystem(this.#options.directory);
    await rm(this.#options.directory, { recursive: true, force: true });
  }

  get #keptReference(): string {
    return `refs/remotes/origin/${this.#options.branch}`;
  }

  async #create(): Promise<void> {
    const clone = { fs: this.#files, gitdir: this.#options.directory };
    await init({ ...clone, bare: true, defaultBranch: 'main' });
    await addRemote({ ...clone, remote: 'origin', url: this.#options.url, force: true });
  }

  /** Whether the last fetch's commit is really here: its reference alone may come from a fetch that never ended. */
  async #hasKeptCommit(): Promise<boolean> {
    const { directory } = this.#options;
    const kept = await resolveRef({ fs: this.#files, gitdir: directory, ref: this.#keptReference }).catch(
      undefinedIfAbsent,
    );
    return kept !== undefined && this.has(kept);
  }

  /** @param depth - without one the server sends what we lack; with one, a whole snapshot, whatever we have */
  async #fetchWithin(limits: GitLimits, depth?: number): Promise<string> {
    const { url, directory } = this.#options;
    try {
      const { fetchHead } = await fetch({
        fs: this.#files,
        http: this.#client(limits),
        gitdir: directory,
        cache: this.#cache,
        url,
        // What we have is offered to the server only under a reference that resolves here.
        ref: this.#keptReference,
        remoteRef: this.#reference,
        remote: 'origin',
        singleBranch: true,
        tags: false,
        headers: {},
        ...(depth === undefined ? {} : { depth }),
      });
      if (fetchHead === null) throw new GitError('EmptyRepository', 'the repository has no branch yet');
      return fetchHead;
    } catch (error) {
      throw gitError(error);
    }
  }

  async #listReferences(prefix: string): Promise<{ readonly ref: string; readonly oid: string }[]> {
    const { url, limits, transport } = this.#options;
    try {
      return await listServerRefs({ http: transport.client(limits), url, prefix, protocolVersion: 2, headers: {} });
    } catch (error) {
      if (error instanceof GitError) throw error;
      throw new GitError('NotGit', 'the server answers something else than Git', { cause: error });
    }
  }

  #client(limits: GitLimits): ReturnType<HttpTransport['client']> {
    return this.#options.transport.client({
      ...limits,
      inspect: (answer) => {
        const pack = packOf(answer);
        if (pack !== undefined) scanPack(pack, limits);
      },
    });
  }
}

function limitsOfIncrement(limits: GitLimits): typeof INCREMENT {
  return {
    wireBytes: Math.min(limits.wireBytes, INCREMENT.wireBytes),
    objects: Math.min(limits.objects, INCREMENT.objects),
  };
}

async function isUnended(directory: string): Promise<boolean> {
  try {
    await access(join(directory, UNENDED));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

function undefinedIfAbsent(error: Error): undefined {
  if ('code' in error && error.code === 'NotFoundError') return;
  throw error;
}

/** isomorphic-git's own errors all mean that something is not as Git says it must be. */
function gitError(error: unknown): GitError {
  if (error instanceof GitError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return new GitError('Corrupt', `the repository cannot be read: ${code}`, { cause: error });
}
