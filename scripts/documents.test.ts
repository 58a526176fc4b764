import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { publishedKinds, validateObject } from '../src/api/index.ts';
import { gvkOf, type KubernetesObject } from '../src/kernel/index.ts';

const root = path.resolve(import.meta.dirname, '..');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).toSorted();
const howItWorks = 'docs/how-it-works.md';

function textOf(page: string): string {
  return readFileSync(path.join(root, page), 'utf8');
}

/** The cells of a page's tables, row by row, without the rules under their heads. */
function tableRows(page: string): string[][] {
  return textOf(page)
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.includes('| --- |'))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));
}

/** What stands between backticks. */
function codes(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

interface Boundaries {
  readonly forbidden: readonly { readonly name: string; readonly comment?: string }[];
}

/** What `.dependency-cruiser.mjs` lets each room import, besides itself and `kernel`. */
async function allowedImports(): Promise<Map<string, string[]>> {
  const { default: boundaries } = (await import(path.join(root, '.dependency-cruiser.mjs'))) as { default: Boundaries };
  const rooms = boundaries.forbidden.filter(({ name }) => name.endsWith('-may-import'));
  return new Map(
    rooms.map(({ name, comment = '' }) => {
      const imports = comment.replace(/^.* may import /, '').split(', ');
      return [name.replace(/-may-import$/, ''), imports.filter((room) => room !== 'kernel').toSorted()];
    }),
  );
}

describe.each(pages)('%s', (page) => {
  it('links to files that exist', () => {
    const targets = [...textOf(page).matchAll(/\]\(([^)#]+)/g)].map(([, target = '']) => target);
    const relative = targets.filter((target) => !target.includes('://'));
    const missing = relative.filter((target) => !existsSync(path.resolve(root, path.dirname(page), target)));
    expect(missing).toEqual([]);
  });

  it('shows manifests that Atoll accepts', () => {
    const blocks = [...textOf(page).matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, block = '']) => block);
    const objects = blocks.flatMap((block) => loadAll(block)) as KubernetesObject[];
    const kinds = new Set(publishedKinds.map(({ gvk }) => gvk.kind));
    const ours = objects.filter((object) => kinds.has(object.kind));
    expect(ours.flatMap((object) => validateObject(object).map((mistake) => [gvkOf(object).kind, mistake]))).toEqual(
      [],
    );
  });
});

describe(howItWorks, () => {
  it('says of each room what the boundaries let it import', async () => {
    const allowed = await allowedImports();
    const rows = tableRows(howItWorks).filter(([room = '']) => allowed.has(codes(room)[0] ?? ''));
    const told = rows.map(([room = '', , imports = '']): [string, string[]] => [
      codes(room)[0] ?? '',
      imports.split(', ').filter(Boolean).toSorted(),
    ]);
    expect(new Map(told)).toEqual(allowed);
  });

  it('names files that are in the folder that it names beside them', () => {
    const rows = tableRows(howItWorks).map((cells) => cells.slice(-2).map(codes));
    const places = rows.flatMap(([folders = [], files = []]) =>
      files.filter((file) => file.endsWith('.ts')).map((file) => ({ file, folders })),
    );
    const lost = places.filter(({ file, folders }) => {
      return !folders.some((folder) => existsSync(path.join(root, 'src', folder, file)));
    });
    expect(places.length).toBeGreaterThan(20);
    expect(lost).toEqual([]);
  });
});
