import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  adminClient,
  asTester,
  auditEvents,
  createNamespace,
  createRepository,
  eventually,
  lab,
  labCluster,
  labControl,
} from '../support/lab.ts';

const run = promisify(execFile);

/** Programs and clusters that the set-up was given are of whatever version they are. */
const isBuilt = process.env['KUBEBUILDER_ASSETS'] === undefined && process.env['ATOLL_LAB_KUBECONFIGS'] === undefined;

describe('the clusters', () => {
  it.each(['hub', 'eu-1', 'us-1', 'ap-1'])('%s reports the version that it was built from', async (cluster) => {
    const { gitVersion } = await adminClient(cluster).version();
    expect(gitVersion).toMatch(isBuilt ? /^v1\.37\.2$/ : /^v1\./);
  });

  it('run a StatefulSet with volume claims until all its pods are ready', async () => {
    const client = adminClient('eu-1');
    const namespace = await createNamespace('eu-1');
    await client.create(statefulSet(namespace), asTester);
    const gvk = { group: 'apps', version: 'v1', kind: 'StatefulSet' };
    await eventually(
      async () => {
        const live = await client.get({ gvk, namespace, name: 'web' });
        return (live?.['status'] as { readyReplicas?: number } | undefined)?.readyReplicas === 2;
      },
      { message: 'the StatefulSet did not become ready' },
    );
    const claims = await client.list({ group: '', version: 'v1', kind: 'PersistentVolumeClaim' }, { namespace });
    expect(claims.items.map((claim) => (claim['status'] as { phase: string }).phase)).toEqual(['Bound', 'Bound']);
  });

  it('keep their administrators apart: a certificate of one is refused by another', async () => {
    const { hub, members } = lab();
    const kubeconfig = hub.kubeconfig.replace(hub.server, members['eu-1']?.server ?? '');
    const folder = await mkdtemp(join(tmpdir(), 'atoll-test-'));
    const path = join(folder, 'kubeconfig.yaml');
    await writeFile(path, kubeconfig);
    const answer = run(lab().kubectl, [`--kubeconfig=${path}`, '--insecure-skip-tls-verify=true', 'get', 'nodes']);
    await expect(answer).rejects.toThrow(/must be logged in|Unauthorized|certificate/);
    await rm(folder, { recursive: true });
  });

  it('record who changed what', async () => {
    const namespace = await createNamespace('hub');
    await eventually(async () => {
      const events = await auditEvents(labCluster('hub'));
      return events.some(
        ({ verb, objectRef, user }) =>
          verb === 'create' && objectRef?.name === namespace && user.username === 'atoll-lab:admin',
      );
    });
  });
});

describe('the Git server', () => {
  let folder: string;
  let url: URL;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atoll-test-'));
    await writeFile(join(folder, 'ca.pem'), lab().git.ca);
    const repository = await createRepository();
    await repository.commit({ 'folder/file.yaml': 'first: 1\n', obsolete: '' }, 'first');
    await repository.commit({ 'folder/file.yaml': 'second: 2\n', obsolete: undefined }, 'second');
    url = new URL(repository.url);
  });

  afterAll(async () => rm(folder, { recursive: true }));

  async function clone(from: URL, to: string): Promise<void> {
    await run('git', ['clone', '--quiet', from.href, join(folder, to)], {
      env: { PATH: process.env['PATH'], GIT_SSL_CAINFO: join(folder, 'ca.pem'), GIT_TERMINAL_PROMPT: '0' },
    });
  }

  function withCredentials(password: string): URL {
    const address = new URL(url);
    address.username = lab().git.username;
    address.password = password;
    return address;
  }

  it('lets a clone with the right password see what was committed', async () => {
    await clone(withCredentials(lab().git.password), 'clone');
    await expect(readFile(join(folder, 'clone', 'folder', 'file.yaml'), 'utf8')).resolves.toBe('second: 2\n');
    await expect(readFile(join(folder, 'clone', 'obsolete'))).rejects.toThrow('ENOENT');
  });

  it('refuses a wrong password, and none', async () => {
    await expect(clone(withCredentials('wrong'), 'wrong')).rejects.toThrow('Authentication failed');
    await expect(clone(url, 'none')).rejects.toThrow('could not read Username');
  });
});

describe('Redis', () => {
  /** Sends commands as a person with a terminal would, and returns what comes back within a moment. */
  async function ask(...commands: readonly string[]): Promise<string> {
    const { hostname, port } = new URL(lab().redis.url);
    const socket = connect(Number(port), hostname);
    socket.end(`${[...commands, 'QUIT'].join('\r\n')}\r\n`);
    return text(socket);
  }

  it('answers with the password, and refuses without', async () => {
    await expect(ask('PING')).resolves.toContain('-NOAUTH');
    await expect(ask(`AUTH ${new URL(lab().redis.url).password}`, 'PING')).resolves.toContain('+PONG');
  });

  it('can be stopped and started again', async () => {
    await labControl().act('stop', 'redis');
    await expect(ask('PING')).rejects.toThrow('ECONNREFUSED');
    await labControl().act('start', 'redis');
    await expect(ask('PING')).resolves.toContain('-NOAUTH');
  });
});

function statefulSet(namespace: string): {
  apiVersion: string;
  kind: string;
  metadata: Record<string, string>;
  spec: unknown;
} {
  const labels = { app: 'web' };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace },
    spec: {
      serviceName: 'web',
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  };
}
