import { describe, expect, test } from 'vitest';

import { branchReference } from './branch-name.ts';

describe("a branch has a name that Git's check-ref-format takes", () => {
  test.each(['main', 'feature/x', 'release-1.2', 'a@b', 'ünïcode', 'v1.0.x', 'x'.repeat(250)])('%s', (name) => {
    expect(branchReference(name)).toBe(`refs/heads/${name}`);
  });

  test.each([
    '',
    '@',
    'HEAD',
    'refs/heads/main',
    '-main',
    '/main',
    'main/',
    'main.',
    'main.lock',
    'main.lock/x',
    '.main',
    'a/.b',
    'a//b',
    'a..b',
    '../../../etc/passwd',
    'a@{1}',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    String.raw`a\b`,
    'a\0b',
    'a\u007f',
    '\ud800',
    'x'.repeat(251),
  ])('%j is refused', (name) => {
    expect(() => branchReference(name)).toThrow(expect.objectContaining({ reason: 'InvalidSource' }) as Error);
  });
});
