import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { crdManifests } from './crd-manifests.ts';
import { environmentPage } from './environment-page.ts';
import { findStaleFiles, refresh } from './generated-files.ts';
import type { Generator } from './generator.ts';
import { referencePages } from './reference-pages.ts';
import { rightsPage } from './rights-page.ts';
import { roleManifests } from './role-manifests.ts';

const generator: Generator = {
  owns: ['made/*.txt'],
  files: () =>
    new Map([
      ['made/a.txt', 'a\n'],
      ['made/b.txt', 'b\n'],
    ]),
};

describe('generated files', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'atoll-generate-'));
    await mkdir(path.join(root, 'made'));
  });

  afterEach(async () => rm(root, { recursive: true }));

  it('are stale when they are missing, different, or made no more; other files are left alone', async () => {
    await writeFile(path.join(root, 'made/b.txt'), 'edited\n');
    await writeFile(path.join(root, 'made/gone.txt'), 'from an older version\n');
    await writeFile(path.join(root, 'made/other.md'), 'by hand\n');
    expect(await findStaleFiles(root, [generator])).toEqual([
      { path: 'made/a.txt', content: 'a\n' },
      { path: 'made/b.txt', content: 'b\n' },
      { path: 'made/gone.txt', content: undefined },
    ]);
  });

  it('are up to date once refreshed', async () => {
    await writeFile(path.join(root, 'made/gone.txt'), 'from an older version\n');
    await refresh(root, await findStaleFiles(root, [generator]));
    expect(await findStaleFiles(root, [generator])).toEqual([]);
    expect(await readFile(path.join(root, 'made/a.txt'), 'utf8')).toBe('a\n');
  });
});

describe.each([
  ['CRDs', crdManifests],
  ['role manifests', roleManifests],
  ['reference pages', referencePages],
  ['the page of variables', environmentPage],
  ['the page of rights', rightsPage],
])('%s', (_, real) => {
  it('come out the same every time', () => {
    expect([...real.files()]).toEqual([...real.files()]);
  });

  it('all lie where their generator says that it owns files', () => {
    for (const file of real.files().keys()) {
      expect(
        real.owns.some((glob) => path.matchesGlob(file, glob)),
        file,
      ).toBe(true);
    }
  });
});
