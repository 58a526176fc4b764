import { lstat, mkdir, readdir, readFile, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';

import type { PromiseFsClient } from 'isomorphic-git';

import { GitError } from './git-error.ts';

const LOOSE_OBJECT = /^objects\/[\da-f]{2}\/[\da-f]{38}$/;

/**
 * The files of one clone, for isomorphic-git: it writes references under names that a server chose, so that every path is
 * held inside the clone. Links are not offered.
 *
 * For each object, isomorphic-git looks at the clone's folder, at its list of packs, and for the object outside of them.
 * The first two are remembered until something is written; the last is never there, because objects come in packs only.
 */
export function cloneFileSystem(directory: string): PromiseFsClient {
  const root = resolve(directory);
  const remembered = new Map<string, Promise<unknown>>();
  const inside = (path: string): string => {
    const target = resolve(path);
    if (target === root || target.startsWith(root + sep)) return target;
    throw new GitError('Corrupt', 'the Git server names a reference that leaves the clone');
  };
  const look = async <Result>(
    kind: string,
    path: string,
    how: (target: string) => Promise<Result>,
  ): Promise<Result> => {
    const target = inside(path);
    const key = `${kind} ${target}`;
    const known = remembered.get(key) as Promise<Result> | undefined;
    const found = known ?? how(target);
    remembered.set(key, found);
    return found;
  };
  const change = async (path: string, how: (target: string) => Promise<unknown>): Promise<void> => {
    try {
      await how(inside(path));
    } finally {
      remembered.clear();
    }
  };
  return {
    promises: {
      readFile: async (path: string, options?: unknown) => {
        const target = inside(path);
        if (LOOSE_OBJECT.test(target.slice(root.length + 1))) throw absent(target);
        return readFile(target, options as { encoding?: BufferEncoding });
      },
      stat: async (path: string) => look('stat', path, stat),
      readdir: async (path: string) =>
        look('readdir', path, async (target) => readdir(target)).then((names) => [...names]),
      lstat: async (path: string) => lstat(inside(path)),
      writeFile: async (path: string, data: string | Uint8Array, options?: BufferEncoding) =>
        change(path, (target) => writeFile(target, data, options)),
      mkdir: async (path: string) => change(path, mkdir),
      unlink: async (path: string) => change(path, unlink),
      rmdir: async (path: string) => change(path, rmdir),
      readlink: async (path: string) => Promise.reject(absent(inside(path))),
      symlink: async (_target: string, path: string) => Promise.reject(absent(inside(path))),
    },
  };
}

function absent(path: string): Error {
  return Object.assign(new Error(`there is no such file in a clone: ${path}`), { code: 'ENOENT' });
}

/** How many packs a clone has, and how long they are together; both 0 when there is no clone. */
export async function packUsage(directory: string): Promise<{ packs: number; bytes: number }> {
  const folder = join(directory, 'objects', 'pack');
  const names = await readdir(folder).catch(noneIfAbsent);
  const packs = names.filter((name) => name.endsWith('.pack'));
  const sizes = await Promise.all(packs.map(async (name) => (await stat(join(folder, name))).size));
  return { packs: packs.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

function noneIfAbsent(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
