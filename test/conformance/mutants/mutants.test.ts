import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testTitles } from '../test-titles.ts';
import { mutants } from './index.ts';

const project = join(import.meta.dirname, '../../..');

test('there are enough of them, each with a name of its own', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(90);
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});

test.each(mutants)('it can be made: $name', async ({ file, search, replacement }) => {
  const text = await readFile(join(project, file), 'utf8');
  expect(text.split(search).length - 1).toBe(1);
  expect(replacement).not.toBe(search);
});

test('each names a test that there is', async () => {
  const titles = await testTitles(join(import.meta.dirname, '..'));
  const named = mutants.map((mutant) => mutant.test);
  expect(named.filter((name) => !titles.some(({ title }) => title.startsWith(name)))).toEqual([]);
});
