import { describe, expect, test } from 'vitest';

import { checkLiteralHost, guardedLookup, isAllowedAddress } from './address-guard.ts';

describe('Atoll connects to', () => {
  test.each([
    '93.184.216.34',
    '10.0.0.7',
    '192.168.1.1',
    '172.16.0.1',
    '2001:db8::1',
    'fd12:3456::1',
    '64:ff9b::5db8:d822',
  ])('%s', (address) => {
    expect(isAllowedAddress(address, false)).toBe(true);
  });
});

describe('Atoll does not connect to', () => {
  test.each([
    '127.0.0.1',
    '127.8.8.8',
    '0.0.0.0',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '100.100.100.200',
    'fe80::1',
    'fd00:ec2::254',
    '224.0.0.1',
    '255.255.255.255',
    'ff02::1',
    'not an address',
  ])('%s', (address) => {
    expect(isAllowedAddress(address, false)).toBe(false);
  });

  test.each(['127.0.0.1', '::1'])('%s, unless loopback is allowed', (address) => {
    expect(isAllowedAddress(address, true)).toBe(true);
  });

  test.each(['169.254.169.254', 'fe80::1', 'fd00:ec2::254'])('%s, even if loopback is allowed', (address) => {
    expect(isAllowedAddress(address, true)).toBe(false);
  });
});

test('a host that is an address is checked although it is not resolved', () => {
  expect(() => checkLiteralHost('127.0.0.1', false)).toThrow(/loopback/);
  expect(() => checkLiteralHost('[::1]', false)).toThrow(/loopback/);
  expect(() => checkLiteralHost('git.example.com', false)).not.toThrow();
});

test('a name that resolves to loopback is refused at the moment of connecting', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  guardedLookup(false)('localhost', { all: true }, resolve);
  await expect(promise).resolves.toMatchObject({ reason: 'AddressRefused' });
});
