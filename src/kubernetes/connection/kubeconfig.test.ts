import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { KubeconfigError, formatKubeconfig, parseKubeconfig } from './kubeconfig.ts';

const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBdTCCARugAwIBAgIUfu/Sob8twvOq9Pqb+AO4+pICuicwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjEyMDExMjQ3NDVaGA8yMTI2MTEwNzEyNDc0
NVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEKC
um0ONJoIYa1hcwfLunsEDM8JGY0RBVlZS4YnoLWCW7vnXJcxRyXG/vMwYPEKQkE2
CckiXQBE5C54q7rM17ejUzBRMB0GA1UdDgQWBBQ4i9bpr3kTcuW6BvG8GSt30BtN
HDAfBgNVHSMEGDAWgBQ4i9bpr3kTcuW6BvG8GSt30BtNHDAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0gAMEUCIQDwPUczed2h1EobfINyWa9utPjtkghC98Xj
O5J4BRxdVgIgLHDykxa9HesXZ+CVHBge+M6qVZc0Ujgi6vkNq2oWjLA=
-----END CERTIFICATE-----
`;
const { privateKey: key } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const SERVER = { server: 'https://10.0.0.1:6443', 'certificate-authority-data': base64(CERTIFICATE) };
const TOKEN = { token: 'abc.def' };
const CLIENT_CERTIFICATE = { 'client-certificate-data': base64(CERTIFICATE), 'client-key-data': base64(key) };

/** A kubeconfig as JSON, which is YAML too, with an unused entry of the worst kind beside the used one. */
function kubeconfig(user: object = TOKEN, cluster: object = SERVER, more: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    preferences: {},
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'eu', user: 'admin', namespace: 'shop' } }],
    clusters: [{ name: 'eu', cluster }],
    users: [
      { name: 'other', user: { exec: { command: 'sh' } } },
      { name: 'admin', user },
    ],
    ...more,
  });
}

describe('accepted', () => {
  test.each([
    ['with a CA', { caData: CERTIFICATE }],
    ['without one', {}],
  ])('what is written here, %s', (_, authority) => {
    const connection = { server: 'https://10.0.0.1:6443', ...authority };
    expect(parseKubeconfig(formatKubeconfig('eu-1', connection, 'abc.def'))).toEqual({
      ...connection,
      token: 'abc.def',
    });
  });

  test('a server with inline CA and a token', () => {
    const connection = { server: 'https://10.0.0.1:6443', caData: CERTIFICATE, token: 'abc.def' };
    expect(parseKubeconfig(kubeconfig())).toEqual(connection);
  });

  test('an inline client certificate', () => {
    expect(parseKubeconfig(kubeconfig(CLIENT_CERTIFICATE))).toMatchObject({
      clientCertificate: CERTIFICATE,
      clientKey: key,
    });
  });

  test('YAML, in which a token of digits stays a text', () => {
    const text = `
current-context: main
contexts: [{name: main, context: {cluster: eu, user: admin}}]
clusters: [{name: eu, cluster: {server: https://api.example:6443/k8s/clusters/c-1}}]
users:
- name: admin
  user:
    token: 0123456789012345678901234567890
`;
    expect(parseKubeconfig(text)).toEqual({
      server: 'https://api.example:6443/k8s/clusters/c-1',
      token: '0123456789012345678901234567890',
    });
  });
});

describe('refused, naming the field', () => {
  test.each([
    ['a command', { exec: { command: 'id' } }, 'users[admin].user.exec'],
    ['an auth provider', { 'auth-provider': { name: 'gcp' } }, 'users[admin].user.auth-provider'],
    ['a token from a file', { tokenFile: '/etc/passwd' }, 'users[admin].user.tokenFile'],
    ['a certificate from a file', { 'client-certificate': '/etc/passwd' }, 'users[admin].user.client-certificate'],
    ['a key from a file', { 'client-key': '/etc/passwd' }, 'users[admin].user.client-key'],
    ['a user name', { username: 'admin' }, 'users[admin].user.username'],
    ['a password', { password: 'x' }, 'users[admin].user.password'],
    ['impersonation', { as: '' }, 'users[admin].user.as'],
    ['no credentials', {}, 'users[admin].user'],
    ['an empty token', { token: '' }, 'users[admin].user.token'],
    ['a token that would end the header', { token: 'a\r\nImpersonate-User: x' }, 'users[admin].user.token'],
    ['two kinds of credentials', { ...TOKEN, ...CLIENT_CERTIFICATE }, 'users[admin].user'],
    ['a certificate without its key', { 'client-certificate-data': base64(CERTIFICATE) }, 'users[admin].user'],
    [
      'a key that is none',
      { ...CLIENT_CERTIFICATE, 'client-key-data': base64('x') },
      'users[admin].user.client-key-data',
    ],
  ])('%s', (_behaviour, user, field) => {
    expect(refusal(kubeconfig(user))).toMatchObject({ field });
  });

  test.each([
    ['a proxy', { ...SERVER, 'proxy-url': 'http://x' }, 'proxy-url'],
    ['no verification', { ...SERVER, 'insecure-skip-tls-verify': true }, 'insecure-skip-tls-verify'],
    ['a CA from a file', { server: SERVER.server, 'certificate-authority': '/x' }, 'certificate-authority'],
    ['a CA that is none', { ...SERVER, 'certificate-authority-data': base64('x') }, 'certificate-authority-data'],
    ['another name for TLS', { ...SERVER, 'tls-server-name': 'x' }, 'tls-server-name'],
    ['plain http', { server: 'http://10.0.0.1' }, 'server'],
    ['no URL', { server: '10.0.0.1:6443' }, 'server'],
    ['a user in the URL', { server: 'https://a@10.0.0.1' }, 'server'],
    ['a password in the URL', { server: 'https://:b@10.0.0.1' }, 'server'],
    ['a query', { server: 'https://10.0.0.1?x' }, 'server'],
    ['no server', {}, 'server'],
  ])('%s', (_behaviour, cluster, field) => {
    expect(refusal(kubeconfig(TOKEN, cluster))).toMatchObject({ field: `clusters[eu].cluster.${field}` });
  });

  test.each([
    ['no current context', { 'current-context': undefined }, 'document.current-context'],
    ['a context that is not there', { 'current-context': 'other' }, 'contexts[other]'],
    ['a cluster that is not there', { clusters: [] }, 'clusters[eu]'],
    ['lists that are none', { clusters: 'eu' }, 'clusters[eu]'],
    ['a field that nobody knows', { include: '/etc/x' }, 'document.include'],
    [
      'two entries of one name',
      {
        clusters: [
          { name: 'eu', cluster: SERVER },
          { name: 'eu', cluster: {} },
        ],
      },
      'clusters[eu]',
    ],
  ])('%s', (_behaviour, more, field) => {
    expect(refusal(kubeconfig(TOKEN, SERVER, more))).toMatchObject({ field });
  });

  test.each([
    ['nothing', ''],
    ['a list', '[]'],
    ['no YAML', '{token: "secret'],
    ['aliases', 'a: &x 1\nb: *x'],
    ['deep nesting', `${'['.repeat(50)}${']'.repeat(50)}`],
    ['megabytes', ' '.repeat(1024 * 1024)],
  ])('as a document: %s', (_behaviour, text) => {
    expect(refusal(text)).toMatchObject({ field: 'document' });
  });

  test('without repeating what it holds', () => {
    const error = refusal('users: [{name: admin, user: {token: top-secret}}');
    expect(error.message).not.toContain('top-secret');
    expect(error.cause).toBeUndefined();
  });
});

function refusal(text: string): Error {
  try {
    parseKubeconfig(text);
  } catch (error) {
    expect(error).toBeInstanceOf(KubeconfigError);
    return error as Error;
  }
  throw new Error('it was accepted');
}
