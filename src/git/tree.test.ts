import { expect, test } from 'vitest';

import { parseTree } from './tree.ts';

const OID = Buffer.alloc(20, 7);

function tree(...entries: [mode: string, name: string | Buffer][]): Buffer {
  return Buffer.concat(
    entries.flatMap(([mode, name]) => [Buffer.from(`${mode} `), Buffer.from(name), Buffer.from([0]), OID]),
  );
}

test('the entries of a tree are read with their kinds', () => {
  const bytes = tree(
    ['100644', 'a.yaml'],
    ['100755', 'run'],
    ['40000', 'apps'],
    ['120000', 'link'],
    ['160000', 'module'],
  );
  expect(parseTree(bytes, '').map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'file a.yaml',
    'file run',
    'folder apps',
    'link link',
    'submodule module',
  ]);
  expect(parseTree(bytes, '')[0]?.oid).toBe('07'.repeat(20));
});

test.each([
  ['a way out of the folder', tree(['40000', '..']), 'UnsupportedContent'],
  ["Git's own folder", tree(['40000', '.GIT']), 'UnsupportedContent'],
  ["Git's own folder as Windows shortens it", tree(['40000', 'git~1']), 'UnsupportedContent'],
  ['a path', tree(['100644', 'a/b']), 'UnsupportedContent'],
  ['a name in Latin-1', tree(['100644', Buffer.from('fröhlich.yaml', 'latin1')]), 'UnsupportedContent'],
  ['a name that is there twice', tree(['100644', 'a'], ['40000', 'a']), 'Corrupt'],
  ['an unknown mode', tree(['777', 'a']), 'Corrupt'],
  ['no end', tree(['100644', 'a']).subarray(0, -1), 'Corrupt'],
  ['no names', Buffer.from('nonsense'), 'Corrupt'],
])('a tree with %s is refused', (_what, bytes, reason) => {
  expect(() => parseTree(bytes, 'apps')).toThrow(expect.objectContaining({ reason }) as Error);
});
