import { describe, expect, it } from 'vitest';
import { listerOf, memberCluster } from '../../test/support/builders.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { KubeconfigError } from '../kubernetes/index.ts';
import { connectionOf } from './connection.ts';
import type { FoundConnection } from './connection.ts';

const member = memberCluster('eu-1');

function kubeconfig(user: Record<string, unknown> = { token: 'secret-token' }): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'eu-1', cluster: { server: 'https://eu-1.example' } }],
    users: [{ name: 'atoll', user }],
    contexts: [{ name: 'eu-1', context: { cluster: 'eu-1', user: 'atoll' } }],
    'current-context': 'eu-1',
  });
}

function secret(data: Readonly<Record<string, string>>, name = 'member-eu-1'): KubernetesObject {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'atoll-system' },
    data: Object.fromEntries(encoded) as Record<string, string>,
  };
}

function find(...secrets: readonly KubernetesObject[]): FoundConnection {
  return connectionOf(member, listerOf(...secrets), 'atoll-system');
}

describe('the connection of a member', () => {
  it('is read from the Secret that the MemberCluster names', () => {
    expect(find(secret({ kubeconfig: kubeconfig() })).connection).toMatchObject({
      server: 'https://eu-1.example',
      token: 'secret-token',
    });
  });

  it('has a fingerprint that changes with the kubeconfig, and gives nothing of it away', () => {
    const { fingerprint } = find(secret({ kubeconfig: kubeconfig() }));
    expect(find(secret({ kubeconfig: kubeconfig(), other: 'key' })).fingerprint).toBe(fingerprint);
    expect(find(secret({ kubeconfig: kubeconfig({ token: 'another' }) })).fingerprint).not.toBe(fingerprint);
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  it('may be under another key', () => {
    const reference = { name: 'member-eu-1', key: 'value' };
    const other = memberCluster('eu-1', {}, { spec: { connection: { kubeconfigSecretRef: reference } } });
    const secrets = listerOf(secret({ value: kubeconfig() }));
    expect(connectionOf(other, secrets, 'atoll-system').connection.server).toBe('https://eu-1.example');
  });

  it.each<[string, readonly KubernetesObject[], string]>([
    ['the Secret is missing', [secret({ kubeconfig: kubeconfig() }, 'other')], 'Secret atoll-system/member-eu-1'],
    ['the key is missing', [secret({ config: kubeconfig() })], 'has no key "kubeconfig"'],
    ['it is no kubeconfig', [secret({ kubeconfig: 'not: a kubeconfig' })], 'Secret atoll-system/member-eu-1'],
    ['it would run a command', [secret({ kubeconfig: kubeconfig({ exec: { command: 'id' } }) })], 'exec'],
    ['it reads a file', [secret({ kubeconfig: kubeconfig({ tokenFile: '/etc/passwd' }) })], 'tokenFile'],
  ])('is refused when %s, and what is wrong is named', (_, secrets, named) => {
    expect(() => find(...secrets)).toThrow(KubeconfigError);
    expect(() => find(...secrets)).toThrow(named);
  });

  it('never shows a credential in its error', () => {
    const text = kubeconfig({ token: 'secret-token', exec: {} });
    expect(() => find(secret({ kubeconfig: text }))).toThrow(KubeconfigError);
    expect(() => find(secret({ kubeconfig: text }))).not.toThrow('secret-token');
  });
});
