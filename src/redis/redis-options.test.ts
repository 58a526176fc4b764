import { expect, it } from 'vitest';
import { accessOf, endpointsOf } from './redis-options.ts';

const options = { keyPrefix: 'atoll', allowNoPassword: false };

it.each([
  ['redis://:p@one:6380', undefined, [{ host: 'one', port: 6380 }]],
  [
    'redis://one',
    ['two:7000', 'three'],
    [
      { host: 'one', port: 6379 },
      { host: 'two', port: 7000 },
      { host: 'three', port: 6379 },
    ],
  ],
  [
    'rediss://[::1]:6380',
    ['[fd00::2]:6381'],
    [
      { host: '::1', port: 6380 },
      { host: 'fd00::2', port: 6381 },
    ],
  ],
])('the nodes of %s and %o', (url, nodes, expected) => {
  expect(endpointsOf({ ...options, url, nodes })).toEqual(expected);
});

it('the user, password and database of a URL, decoded, and TLS where it says so', () => {
  expect(accessOf({ ...options, url: 'redis://atoll:p%40ss@one/2', tls: { ca: 'PEM' } })).toEqual({
    username: 'atoll',
    password: 'p@ss',
    db: 2,
  });
  expect(accessOf({ ...options, url: 'rediss://:p@one', tls: { ca: 'PEM' } })).toEqual({
    password: 'p',
    tls: { ca: 'PEM' },
  });
});
