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

test.each([
  ['no namespace', '', 'deployer'],
  ['no name', 'shop', ''],
  ['a user of the system', 'system:masters', 'x'],
  ['a line break', 'shop', 'x\r\nImpersonate-Group: system:masters'],
  ['a colon', 'shop', 'a:b'],
])('%s is refused', (_behaviour, namespace, name) => {
  expect(() => impersonationHeaders({ kind: 'serviceAccount', namespace, name })).toThrow(UnsendableError);
});
