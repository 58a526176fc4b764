import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemClock } from '../../src/kernel/index.ts';
import type { LabGit } from './description.ts';

/** What a commit changes: the new text of a file, or `undefined` to delete it (a folder with everything in it). */
export type FileChanges = Readonly<Record<string, string | Uint8Array | undefined>>;

/** A repository of the lab's Git server, written to on disk: any process of this machine can commit. */
export class GitRepository {
  readonly url: string;
  readonly path: string;

  private constructor(git: LabGit, name: string) {
    this.url = `${git.url}/${name}.git`;
    this.path = join(git.root, `${name}.git`);
  }

  /** A new repository with no commit and `main` as its default branch. */
  static async create(git: LabGit, name: string): Promise<GitRepository> {
    const repository = new GitRepository(git, name);
    if (existsSync(repository.path)) throw new Error(`the lab has a repository ${name} already`);
    await runGit(['init', '--quiet', '--bare', '--initial-branch=main', repository.path]);
    return repository;
  }

  static open(git: LabGit, name: string): GitRepository {
    return new GitRepository(git, name);
  }

  /** Adds a commit to a branch and returns its object id. */
  async commit(changes: FileChanges, message: string, branch = 'main'): Promise<string> {
    const parent = await this.head(branch);
    const input = [
      `commit refs/heads/${branch}\nmark :1\n`,
      `committer Atoll Lab <lab@atoll.example> ${Math.floor(systemClock.now() / 1000)} +0000\n`,
      ...data(message),
      ...(parent === undefined ? [] : [`from ${parent}\n`]),
      ...Object.entries(changes).flatMap(([path, content]) => fileChange(path, content)),
      '\nget-mark :1\ndone\n',
    ];
    const answer = await this.#git(
      ['fast-import', '--quiet', '--done'],
      Buffer.concat(input.map((part) => Buffer.from(part))),
    );
    return answer.trim();
  }

  /** The object id of a branch's newest commit, `undefined` while it has none. */
  async head(branch = 'main'): Promise<string | undefined> {
    const answer = await this.#git(['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`]);
    return answer.trim() || undefined;
  }

  /** Points a branch at any commit, as a forced push does. */
  async reset(oid: string, branch = 'main'): Promise<void> {
    await this.#git(['update-ref', `refs/heads/${branch}`, oid]);
  }

  async deleteBranch(branch: string): Promise<void> {
    await this.#git(['update-ref', '-d', `refs/heads/${branch}`]);
  }

  async #git(args: readonly string[], input?: Uint8Array): Promise<string> {
    return runGit([`--git-dir=${this.path}`, ...args], input);
  }
}

function fileChange(path: string, content: string | Uint8Array | undefined): (string | Uint8Array)[] {
  const quoted = `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
  if (content === undefined) return [`D ${quoted}\n`];
  return [`M 100644 inline ${quoted}\n`, ...data(content)];
}

function data(content: string | Uint8Array): (string | Uint8Array)[] {
  return [`data ${Buffer.byteLength(content)}\n`, content, '\n'];
}

async function runGit(args: readonly string[], input?: Uint8Array): Promise<string> {
  const child = spawn('git', args, {
    env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
  });
  const exited = once(child, 'close') as Promise<[number | null]>;
  child.stdin.end(input);
  const [output, complaint, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${complaint.trim()}`);
  return output;
}
