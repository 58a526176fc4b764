import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KubeconfigError } from './kubeconfig.ts';
import { userConnection } from './user-kubeconfig.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const SERVER = { server: 'https://10.0.0.1:6443', 'certificate-authority-data': base64('a CA') };
const TOKEN = { token: 'abc.def' };
const connection = { server: 'https://10.0.0.1:6443', caData: 'a CA' };

let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atoll-kubeconfig-'));
  file = join(folder, 'config');
  await writeFile(join(folder, 'client.crt'), 'a certificate');
  await writeFile(join(folder, 'client.key'), 'a key');
});

afterAll(() => rm(folder, { recursive: true }));

/** Reads a kubeconfig whose current context is `main`, with another beside it. */
async function read(
  user: object = TOKEN,
  cluster: object = SERVER,
  context?: string,
): ReturnType<typeof userConnection> {
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    contexts: [
      { name: 'main', context: { cluster: 'eu', user: 'me' } },
      { name: 'other', context: { cluster: 'us', user: 'me' } },
      { name: 'torn', context: { cluster: 'us', user: 'nobody' } },
    ],
    clusters: [
      { name: 'eu', cluster },
      { name: 'us', cluster: { server: 'https://10.0.0.2:6443' } },
    ],
    users: [{ name: 'me', user }],
  };
  await writeFile(file, JSON.stringify(kubeconfig));
  return userConnection(file, context);
}

/** A credential plugin as cloud providers have them, which answers with a status. */
function plugin(status: object): object {
  const answer = JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status });
  const args = ['--eval', `process.stdout.write(${JSON.stringify(answer)})`];
  return {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args,
      interactiveMode: 'Never',
    },
  };
}

describe("a person's kubeconfig is taken", () => {
  test.each<[string, object, object]>([
    ['an inline token', TOKEN, TOKEN],
    ['a token from a plugin', plugin({ token: 'from.plugin' }), { token: 'from.plugin' }],
    [
      'a client certificate from a plugin',
      plugin({ clientCertificateData: 'its certificate', clientKeyData: 'its key' }),
      { clientCertificate: 'its certificate', clientKey: 'its key' },
    ],
    [
      'an inline client certificate',
      { 'client-certificate-data': base64('a certificate'), 'client-key-data': base64('a key') },
      { clientCertificate: 'a certificate', clientKey: 'a key' },
    ],
    [
      'a client certificate in files beside it',
      { 'client-certificate': 'client.crt', 'client-key': 'client.key' },
      { clientCertificate: 'a certificate', clientKey: 'a key' },
    ],
  ])('with %s', async (_, user, expected) => {
    expect(await read(user)).toEqual({ ...connection, ...expected });
  });

  test('at another context than the current one', async () => {
    expect(await read(TOKEN, SERVER, 'other')).toEqual({ server: 'https://10.0.0.2:6443', ...TOKEN });
  });
});

describe("a person's kubeconfig is refused by the field", () => {
  test.each<[string, object, object, string]>([
    ['that skips verification', TOKEN, { 'insecure-skip-tls-verify': true }, 'clusters[eu].cluster.insecure-skip-tls'],
    ['that goes through a proxy', TOKEN, { 'proxy-url': 'http://proxy' }, 'clusters[eu].cluster.proxy-url'],
    ['that expects another name', TOKEN, { 'tls-server-name': 'eu' }, 'clusters[eu].cluster.tls-server-name'],
    ['that acts as somebody else', { ...TOKEN, as: 'jane' }, {}, 'users[me].user.as'],
    ['that says who by a password', { username: 'me', password: 'secret' }, {}, 'users[me].user.username'],
    ['that says nothing of who', {}, {}, 'users[me].user'],
  ])('%s', async (_, user, cluster, field) => {
    const error: unknown = await read(user, { ...SERVER, ...cluster }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(KubeconfigError);
    expect(error).toMatchObject({ field: expect.stringContaining(field) as string });
    expect(String(error)).not.toContain('secret');
  });

  test.each(['missing', 'torn'])('of a context that is %s', async (context) => {
    await expect(read(TOKEN, SERVER, context)).rejects.toThrow(`contexts[${context}]`);
  });

  test('that is no YAML, naming the file and quoting nothing of it', async () => {
    const text = join(folder, 'text');
    await writeFile(text, 'token: secret\n```\nsecret\n');
    const error = String(await userConnection(text).catch((reason: unknown) => reason));
    expect(error).toContain(text);
    expect(error).not.toContain('secret');
  });
});
