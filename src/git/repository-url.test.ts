import { describe, expect, test } from 'vitest';

import { checkRepositoryUrl } from './repository-url.ts';

describe('a repository is addressed by https and a path, nothing else', () => {
  test.each([
    ['https://git.example.com/shop/config.git', 'https://git.example.com/shop/config.git'],
    ['https://git.example.com/shop/config/', 'https://git.example.com/shop/config'],
    ['https://git.example.com:8443/shop', 'https://git.example.com:8443/shop'],
    ['https://[2001:db8::1]/shop', 'https://[2001:db8::1]/shop'],
    ['HTTPS://Git.Example.com/Shop', 'https://git.example.com/Shop'],
  ])('%s is read', (given, normalised) => {
    expect(checkRepositoryUrl(given)).toBe(normalised);
  });

  test.each([
    'http://git.example.com/shop',
    'git://git.example.com/shop',
    'ssh://git@git.example.com/shop',
    'git@git.example.com:shop.git',
    'file:///etc/passwd',
    'ext::sh -c id',
    '-oProxyCommand=id',
    '--upload-pack=id',
    'https://user:hunter2@git.example.com/shop',
    'https://hunter2@git.example.com/shop',
    'https://git.example.com/shop?token=hunter2',
    'https://git.example.com/shop#hunter2',
    'https://git.example.com/',
    'https://git.example.com/sh op',
    'https://git.example.com/shop\n',
    'https:///shop',
    `https://git.example.com/${'x'.repeat(3000)}`,
    '',
  ])('%j is refused, without being repeated', (given) => {
    expect(() => checkRepositoryUrl(given)).toThrow(expect.objectContaining({ reason: 'InvalidSource' }) as Error);
    expect(() => checkRepositoryUrl(given)).not.toThrow(/hunter2/);
  });
});
