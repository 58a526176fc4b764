import { describe, expect, test } from 'vitest';

import { isSafeName, splitPath } from './tree-path.ts';

describe('the path that is read stays inside the repository', () => {
  test.each([
    ['', []],
    ['.', []],
    ['./', []],
    ['apps', ['apps']],
    ['./apps/', ['apps']],
    ['apps//eu/./shop', ['apps', 'eu', 'shop']],
  ])('%j', (path, parts) => {
    expect(splitPath(path)).toEqual(parts);
  });

  test.each(['/', '/etc', '..', 'apps/../..', String.raw`apps\x`, 'apps/.git', 'a\0b', 'a\nb'])(
    '%j is refused',
    (path) => {
      expect(() => splitPath(path)).toThrow(expect.objectContaining({ reason: 'InvalidSource' }) as Error);
    },
  );
});

describe('names that a file system could take for something else are not safe', () => {
  test.each(['.git', '.GIT', '.git.', '.git ', 'git~1', 'GIT~2', '.gi\u200ct', '.', '..', '', 'a/b', String.raw`a\b`])(
    '%j',
    (name) => {
      expect(isSafeName(name)).toBe(false);
    },
  );

  test.each(['.github', 'git', '.gitignore', '...', 'a b', 'ünïcode', 'git~x'])('%j is', (name) => {
    expect(isSafeName(name)).toBe(true);
  });
});
