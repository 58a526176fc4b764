import { GitError } from './git-error.ts';
import { decodeName, isSafeName } from './tree-path.ts';

const OBJECT_NAME_LENGTH = 20;

/** An entry of a tree. */
export interface TreeEntry {
  readonly kind: 'file' | 'folder' | 'link' | 'submodule';
  readonly name: string;
  readonly oid: string;
}

/**
 * Reads a tree object strictly: nothing of it is skipped or repaired.
 *
 * @param path - of the tree, for messages
 * @throws GitError `Corrupt`, or `UnsupportedContent` for a name that cannot be told apart from another
 */
export function parseTree(content: Buffer, path: string): readonly TreeEntry[] {
  const entries: TreeEntry[] = [];
  const names = new Set<string>();
  let position = 0;
  while (position < content.length) {
    const space = content.indexOf(0x20, position);
    const nul = content.indexOf(0, space);
    const end = nul + 1 + OBJECT_NAME_LENGTH;
    if (space < 0 || nul < 0 || end > content.length) throw new GitError('Corrupt', `the folder ${path}/ is damaged`);
    const name = entryName(content.subarray(space + 1, nul), path);
    if (names.has(name)) throw new GitError('Corrupt', `${path}/${name} is there twice`);
    names.add(name);
    const mode = content.toString('latin1', position, space);
    entries.push({ kind: kindOf(mode, `${path}/${name}`), name, oid: content.toString('hex', nul + 1, end) });
    position = end;
  }
  return entries;
}

function entryName(bytes: Buffer, path: string): string {
  const name = decodeName(bytes);
  if (name === undefined) {
    throw new GitError(
      'UnsupportedContent',
      `a name in ${path}/ is not UTF-8: ${JSON.stringify(bytes.toString('latin1'))}`,
    );
  }
  if (!isSafeName(name)) {
    throw new GitError('UnsupportedContent', `${JSON.stringify(name)} in ${path}/ is not a name Git would check out`);
  }
  return name;
}

function kindOf(mode: string, path: string): TreeEntry['kind'] {
  switch (mode) {
    case '40000':
    case '040000':
      return 'folder';
    case '120000':
      return 'link';
    case '160000':
      return 'submodule';
    case '100644':
    case '100664':
    case '100755':
      return 'file';
    default:
      throw new GitError('Corrupt', `${path} has the unknown mode ${JSON.stringify(mode)}`);
  }
}
