import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checklist, COVERED } from './checklist/index.ts';
import { testTitles } from './test-titles.ts';

const project = join(import.meta.dirname, '../..');
const own = new Set(['checklist.test.ts', 'mutants/mutants.test.ts']);
const titles = (await testTitles(import.meta.dirname)).filter(({ file }) => !own.has(file));

/** The name that a title begins with: the longest, because names may begin alike. */
function nameOf(title: string): string | undefined {
  const names = [...checklist.keys()].filter((name) => title === name || title.startsWith(`${name}: `));
  return names.toSorted((a, b) => b.length - a.length)[0];
}

async function isThere(file: string, text: string): Promise<boolean> {
  return (await readFile(join(project, file), 'utf8')).includes(text);
}

describe('the checklist', () => {
  test('has a test for every name that it calls covered', () => {
    const named = new Set(titles.map(({ title }) => nameOf(title)));
    const covered = [...checklist].filter(([, verdict]) => verdict === COVERED).map(([name]) => name);
    expect(covered.filter((name) => !named.has(name))).toEqual([]);
  });

  test('knows the name of every test, and skips none of them', () => {
    const wrong = titles.filter(({ title }) => checklist.get(nameOf(title) ?? '') !== COVERED);
    expect(wrong).toEqual([]);
  });

  test('says where else a name is covered, and why one is skipped', async () => {
    for (const [name, verdict] of checklist) {
      if (verdict === COVERED) continue;
      if ('skipped' in verdict) expect(verdict.skipped.length, name).toBeGreaterThan(20);
      else expect([name, await isThere(verdict.elsewhere, verdict.test)]).toEqual([name, true]);
    }
  });
});
