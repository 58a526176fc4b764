import { GitError } from './git-error.ts';

const DECODER = new TextDecoder('utf-8', { fatal: true });
/** Names that some file system takes for ".git" or for a way out. Nothing is checked out; whoever made one means harm. */
const HARMFUL = /[\p{Cc}/\\]|^\.{0,2}$|^\.git[ .]*$|^\.?git~\d+$/iu;
/** Characters that HFS+ ignores in a name. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/** Whether a name in a tree is one that Git itself would check out. */
export function isSafeName(name: string): boolean {
  return !HARMFUL.test(name.replaceAll(IGNORED_BY_HFS, ''));
}

/** A name as a tree holds it. @returns undefined when it is not UTF-8: two such names may look the same */
export function decodeName(bytes: Uint8Array): string | undefined {
  try {
    return DECODER.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * The folders down to the one that is read; none for the repository's root.
 *
 * @throws GitError `InvalidSource` when the path is absolute or leaves the repository
 */
export function splitPath(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '.' && part !== '');
  if (path.startsWith('/') || parts.some((part) => !isSafeName(part))) {
    throw new GitError('InvalidSource', `${JSON.stringify(path.slice(0, 200))} is not a path inside a repository`);
  }
  return parts;
}
