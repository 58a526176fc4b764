import { lstat, mkdir, readdir, readFile, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';

import type { PromiseFsClient } from 'isomorphic-git';

import { GitError } from './git-error.ts';

const LOOSE_OBJECT = /^objects\/[\da-f]{2}\/[\da-f]{38}$/;

/**
 * The files of one clone, for isomorphic-git: it writes references under names that a server chose, so that every path is
 * held inside the clone. Links are not offered. Objects come in packs only, so a loose one is absent without looking.
 */
export function cloneFileSystem(directory: string): PromiseFsClient {
  const root = resolve(directory);
  const inside = (path: string): string => {
    const target = resolve(path);
    if (target === root || target.startsWith(root + sep)) return target;
    throw new GitError('Corrupt', 'the Git server names a reference that leaves the clone');
  };
  return {
    promises: {
      readFile: async (path: string, options?: unknown) => {
        const target = inside(path);
        if (LOOSE_OBJECT.test(target.slice(root.length + 1))) throw absent(target);
        return readFile(target, options as { encoding?: BufferEncoding });
      },
      writeFile: async (path: string, data: string | Uint8Array, options?: BufferEncoding) =>
        writeFile(inside(path), data, options),
      unlink: async (path: string) => unlink(inside(path)),
      readdir: async (path: string) => readdir(inside(path)),
      mkdir: async (path: string) => mkdir(inside(path)),
      rmdir: async (path: string) => rmdir(inside(path)),
      stat: async (path: string) => stat(inside(path)),
      lstat: async (path: string) => lstat(inside(path)),
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
