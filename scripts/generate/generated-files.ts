import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { globSync } from 'node:fs';
import path from 'node:path';

import type { Generator } from './generator.ts';

/** A file that is not what the code makes of it; without content, one that should not be there. */
export interface StaleFile {
  readonly path: string;
  readonly content: string | undefined;
}

/** Compares what the generators make with what is there, in the order of paths. */
export async function findStaleFiles(root: string, generators: readonly Generator[]): Promise<readonly StaleFile[]> {
  const wanted = new Map(generators.flatMap((generator) => [...generator.files()]));
  const present = generators.flatMap(({ owns }) => globSync([...owns], { cwd: root }));
  const paths = [...new Set([...wanted.keys(), ...present])].toSorted();
  const compared = await Promise.all(
    paths.map(async (file) => {
      const content = wanted.get(file);
      return { path: file, content, stale: (await contentOf(path.join(root, file))) !== content };
    }),
  );
  return compared.filter(({ stale }) => stale).map(({ path: file, content }) => ({ path: file, content }));
}

/** Makes the stale files what they should be. */
export async function refresh(root: string, stale: readonly StaleFile[]): Promise<void> {
  for (const { path: file, content } of stale) {
    const absolute = path.join(root, file);
    if (content === undefined) {
      await rm(absolute);
    } else {
      await mkdir(path.dirname(absolute), { recursive: true });
      await writeFile(absolute, content);
    }
  }
}

async function contentOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
