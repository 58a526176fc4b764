// What the set-up downloads and builds is kept for the next time, one folder per version.

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'atoll');

/**
 * The cached folder of that name, made by `fill(temporaryFolder)` when it is missing. It appears complete or not at all:
 * it is filled under another name and then renamed, so that two who fill it at once do not disturb each other.
 */
export async function cached(name, fill) {
  const folder = join(cacheFolder, name);
  if (existsSync(folder)) return folder;
  await mkdir(cacheFolder, { recursive: true });
  const temporary = await mkdtemp(join(cacheFolder, `.${name}-`));
  try {
    await fill(temporary);
    await rename(temporary, folder).catch((error) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return folder;
}
