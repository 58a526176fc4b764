import type { Snapshot, SnapshotFile } from '../kernel/index.ts';
import type { BlobTexts } from './blob-cache.ts';
import { GitError } from './git-error.ts';
import type { GitLimits } from './git-limits.ts';
import type { Repository } from './repository.ts';
import { splitPath } from './tree-path.ts';
import { parseTree, type TreeEntry } from './tree.ts';

const LARGE_FILE_POINTER = 'version https://git-lfs.github.com/spec/';
const OFFENDERS_SHOWN = 10;

/** Which files of a repository are read. Paths are relative to the repository's root. */
export interface SnapshotFilter {
  readonly folder: (path: string) => boolean;
  readonly file: (path: string) => boolean;
}

/** Options of {@link SnapshotReader}. */
export interface SnapshotReaderOptions {
  readonly repository: Pick<Repository, 'read'>;
  readonly filter: SnapshotFilter;
  readonly limits: GitLimits;
  readonly texts: BlobTexts;
  readonly signal: AbortSignal;
}

interface FoundFile {
  readonly path: string;
  readonly oid: string;
}

/**
 * Reads a commit's files from the object database; no path of a repository is ever joined to one of the file system.
 * What cannot be read as it is (links, submodules, large-file pointers, other encodings) is an error that names it,
 * because leaving it out would make a part look like the whole.
 */
export class SnapshotReader {
  readonly #options: SnapshotReaderOptions;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #found: FoundFile[] = [];
  readonly #refused: string[] = [];

  constructor(options: SnapshotReaderOptions) {
    this.#options = options;
  }

  /** The files below a path. @throws GitError */
  async read(request: { oid: string; branch: string; path: string }): Promise<Snapshot> {
    const { oid, branch, path } = request;
    const parts = splitPath(path);
    const tree = await this.#enter(await this.#rootTree(oid), parts);
    await this.#walk(tree, parts.join('/'), 0);
    const files = await this.#readFiles();
    this.#throwRefused();
    return { revision: `${branch}@sha1:${oid}`, files };
  }

  async #rootTree(commit: string): Promise<string> {
    const { type, content } = await this.#options.repository.read(commit);
    const [, tree] = /^tree ([\da-f]{40})\n/.exec(content.toString('latin1', 0, 46)) ?? [];
    if (type !== 'commit' || tree === undefined) throw new GitError('Corrupt', `${commit} is not a commit`);
    return tree;
  }

  async #readTree(oid: string, path: string): Promise<readonly TreeEntry[]> {
    this.#options.signal.throwIfAborted();
    const { type, content } = await this.#options.repository.read(oid);
    if (type !== 'tree') throw new GitError('Corrupt', `the folder ${path}/ is a ${type}`);
    return parseTree(content, path);
  }

  /** The tree at a path. */
  async #enter(root: string, parts: readonly string[]): Promise<string> {
    let tree = root;
    for (const [depth, part] of parts.entries()) {
      const path = parts.slice(0, depth + 1).join('/');
      const entries = await this.#readTree(tree, parts.slice(0, depth).join('/'));
      const entry = entries.find(({ name }) => name === part);
      if (entry?.kind !== 'folder') {
        throw new GitError(
          'PathNotFound',
          entry === undefined ? `the commit has no folder "${path}"` : `${path} is a ${entry.kind}, not a folder`,
        );
      }
      tree = entry.oid;
    }
    return tree;
  }

  async #walk(tree: string, path: string, depth: number): Promise<void> {
    const { limits } = this.#options;
    if (depth > limits.depth) throw new GitError('LimitExceeded', `${path}/ is more than ${limits.depth} folders deep`);
    for (const entry of await this.#readTree(tree, path)) {
      const entryPath = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.kind === 'folder') {
        if (this.#options.filter.folder(entryPath)) await this.#walk(entry.oid, entryPath, depth + 1);
      } else this.#note(entry, entryPath);
    }
  }

  #note({ kind, name, oid }: TreeEntry, path: string): void {
    const { filter, limits } = this.#options;
    const isWanted = filter.file(path);
    if (kind === 'submodule') this.#refused.push(`${path} is a submodule, whose files are not read`);
    // A link without an ending may stand for a folder, and then for manifests.
    else if (kind === 'link' && (isWanted || !name.includes('.'))) this.#refused.push(`${path} is a symbolic link`);
    else if (kind === 'file' && isWanted) this.#found.push({ path, oid });
    if (this.#found.length > limits.files) throw new GitError('LimitExceeded', `more than ${limits.files} files`);
  }

  async #readFiles(): Promise<SnapshotFile[]> {
    const { limits } = this.#options;
    const files: SnapshotFile[] = [];
    let length = 0;
    for (const { path, oid } of this.#found) {
      const content = this.#options.texts.get(oid) ?? (await this.#readFile(oid, path));
      length += content?.length ?? 0;
      if (length > limits.totalFileBytes)
        throw new GitError('LimitExceeded', `more than ${limits.totalFileBytes} bytes`);
      if (content !== undefined) files.push({ path, oid, content });
    }
    return files;
  }

  async #readFile(oid: string, path: string): Promise<string | undefined> {
    const { repository, limits, texts, signal } = this.#options;
    signal.throwIfAborted();
    const { type, content } = await repository.read(oid);
    if (type !== 'blob') throw new GitError('Corrupt', `the file ${path} is a ${type}`);
    if (content.length > limits.fileBytes) {
      throw new GitError('LimitExceeded', `${path} has ${content.length} bytes, more than ${limits.fileBytes}`);
    }
    const text = this.#decode(content);
    if (text === undefined) this.#refused.push(`${path} is not UTF-8`);
    else if (text.startsWith(LARGE_FILE_POINTER)) this.#refused.push(`${path} is a Git LFS pointer, not the file`);
    else texts.set(oid, text);
    return text;
  }

  #decode(content: Buffer): string | undefined {
    try {
      return this.#decoder.decode(content);
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }

  #throwRefused(): void {
    if (this.#refused.length === 0) return;
    const shown = this.#refused.slice(0, OFFENDERS_SHOWN).join('; ');
    const more = this.#refused.length - OFFENDERS_SHOWN;
    throw new GitError(
      'UnsupportedContent',
      `${shown}${more > 0 ? `; and ${more} more` : ''}. Commit plain files instead, or move these out of the path`,
    );
  }
}
