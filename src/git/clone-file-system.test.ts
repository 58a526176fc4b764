import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { cloneFileSystem } from './clone-file-system.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'atoll-test-'));
  await writeFile(join(root, 'outside'), 'secret');
});
afterAll(() => rm(root, { recursive: true }));

test.each(['../outside', 'refs/heads/../../../outside', '../clone-of-another/config'])(
  '%s is not reached',
  async (path) => {
    const { promises } = cloneFileSystem(join(root, 'clone'));
    const target = `${join(root, 'clone')}/${path}`;
    await expect(promises.readFile(target)).rejects.toThrow(/leaves the clone/);
    await expect(promises.writeFile(target, 'x')).rejects.toThrow(/leaves the clone/);
    await expect(promises.unlink(target)).rejects.toThrow(/leaves the clone/);
  },
);

test('what is remembered is looked up again after a change', async () => {
  const clone = join(root, 'changing');
  const { promises } = cloneFileSystem(clone);
  await promises.mkdir(clone);
  expect(await promises.readdir(clone)).toEqual([]);
  await promises.writeFile(join(clone, 'config'), 'x');
  expect(await promises.readdir(clone)).toEqual(['config']);
});
