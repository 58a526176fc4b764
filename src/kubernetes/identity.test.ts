import { expect, test } from 'vitest';
import { impersonationHeaders } from './identity.ts';
import { UnsendableError } from './unsendable-error.ts';

test('Atoll itself impersonates nobody', () => {
  expect(impersonationHeaders({ kind: 'self' })).toEqual({});
});

test('a service account is impersonated by its user name', () => {
  const headers = impersonationHeaders({ kind: 'serviceAccount', namespace: 'shop', name: 'deployer.v1' });
  expect(headers).toEqual({ 'Impersonate-User': 'system:serviceaccount:shop:deployer.v1' });
});

test('a stamp is borne by whomever is impersonated, by the own account when nobody else is', () => {
  const stamp = { account: { namespace: 'atoll-system', name: 'atoll' }, extra: { 'atoll.dev/epoch': '7' } };
  expect(impersonationHeaders({ kind: 'self' }, stamp)).toEqual({
    'Impersonate-User': 'system:serviceaccount:atoll-system:atoll',
    'Impersonate-Extra-atoll.dev%2fepoch': '7',
  });
  expect(impersonationHeaders({ kind: 'serviceAccount', namespace: 'shop', name: 'deployer' }, stamp)).toEqual({
    'Impersonate-User': 'system:serviceaccount:shop:deployer',
    'Impersonate-Extra-atoll.dev%2fepoch': '7',
  });
});

test.each([
  ['no namespace', '', 'deployer'],
  ['no name', 'shop', ''],
  ['a user of the system', 'system:masters', 'x'],
  ['a line break', 'shop', 'x\r\nImpersonate-Group: system:masters'],
  ['a colon', 'shop', 'a:b'],
])('%s is refused', (_behaviour, namespace, name) => {
  expect(() => impersonationHeaders({ kind: 'serviceAccount', namespace, name })).toThrow(UnsendableError);
});
