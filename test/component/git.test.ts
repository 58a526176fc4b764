import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { GitProcess, type PollRequest } from '../../src/git/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { ManifestReading } from '../../src/manifests/index.ts';
import type { GitRepository } from '../lab/index.ts';
import { GitProxy } from '../support/git-proxy.ts';
import { createRepository, lab } from '../support/lab.ts';

const childScript = new URL('../../src/git-child.ts', import.meta.url);
const PARSE = { defaultNamespace: 'shop' };

let proxy: GitProxy;
let git: GitProcess<ManifestReading>;

beforeAll(async () => {
  proxy = await GitProxy.start();
  git = new GitProcess({
    childScript,
    allowLoopback: true,
    clock: systemClock,
    logger: silentLogger,
    metrics: noMetrics,
  });
});
afterEach(() => proxy.reset());
afterAll(async () => {
  await git.close();
  await proxy.stop();
});

/** Git itself, on the server's side. */
async function serverGit(repository: GitRepository, ...command: readonly string[]): Promise<string> {
  const identity = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  const env = { PATH: process.env['PATH'], ...identity };
  const { stdout } = await promisify(execFile)('git', [`--git-dir=${repository.path}`, ...command], { env });
  return stdout.trim();
}

function configMap(name: string, value = 'x'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {value: "${value}"}\n`;
}

/** The repository behind the counting proxy, with the right credentials. */
function sourceOf(repository: GitRepository, branch = 'main'): PollRequest {
  const { username, password, url } = lab().git;
  const credentials = { username, password, ca: proxy.ca };
  return { url: repository.url.replace(url, proxy.url), branch, credentials, timeout: 60_000 };
}

async function read(source: PollRequest, path = ''): Promise<{ oid: string; revision: string; names: string[] }> {
  const { oid, revision, content } = await git.read({ ...source, path, parseOptions: PARSE });
  if ('errors' in content) throw new Error(content.errors.map(({ message }) => message).join());
  return { oid, revision, names: content.manifests.map(({ object }) => object.metadata.name ?? '') };
}

describe('a branch is read', () => {
  test('whole, at the commit that it is at', async () => {
    const repository = await createRepository();
    const oid = await repository.commit(
      { 'a.yaml': configMap('a'), 'apps/b.yaml': configMap('b'), 'README.md': '#' },
      'one',
    );
    const source = sourceOf(repository);
    await expect(git.poll(source)).resolves.toEqual({ oid });
    await expect(read(source)).resolves.toEqual({ oid, revision: `main@sha1:${oid}`, names: ['a', 'b'] });
    await expect(read(source, './apps')).resolves.toMatchObject({ names: ['b'] });
  });

  test('by its whole name, when others begin with it', async () => {
    const repository = await createRepository();
    const oid = await repository.commit({ 'a.yaml': configMap('a') }, 'one', 'main');
    await repository.commit({ 'b.yaml': configMap('b') }, 'two', 'main2');
    await repository.commit({ 'c.yaml': configMap('c') }, 'three', 'feature/x');
    await expect(git.poll(sourceOf(repository))).resolves.toEqual({ oid });
    await expect(git.poll(sourceOf(repository, 'mai'))).rejects.toMatchObject({ reason: 'BranchNotFound' });
    await expect(read(sourceOf(repository, 'feature/x'))).resolves.toMatchObject({ names: ['c'] });
  });

  test('with integers exact and mistakes at their line', async () => {
    const repository = await createRepository();
    const source = sourceOf(repository);
    await repository.commit({ 'a.yaml': `${configMap('a')}big: 9007199254740993\n` }, 'one');
    const { content } = await git.read({ ...source, path: '', parseOptions: PARSE });
    expect(content).toMatchObject({ manifests: [{ object: { big: 9_007_199_254_740_993n } }] });

    await repository.commit({ 'apps/bad.yaml': `${configMap('b')}---\nkind: [\n`, 'c.yaml': 'kind: Only\n' }, 'two');
    const { content: bad } = await git.read({ ...source, path: '', parseOptions: PARSE });
    expect(bad).not.toHaveProperty('manifests');
    expect('errors' in bad && bad.errors.map(({ file, line }) => `${file}:${line}`)).toEqual([
      'apps/bad.yaml:7',
      'c.yaml:1',
    ]);
  });

  test("with Atoll's own kinds validated", async () => {
    const repository = await createRepository();
    const manifest = [
      'apiVersion: federation.atoll.dev/v1',
      'kind: FederatedRedisCluster',
      'metadata: {name: sessions}',
      'spec:',
      '  template: {spec: {}}',
      '  placement: {clusters: [eu-1]}',
      '  nonsense: true',
      '',
    ];
    await repository.commit({ 'apps/sessions.yaml': manifest.join('\n') }, 'one');
    const { content } = await git.read({ ...sourceOf(repository), path: '', parseOptions: PARSE });
    expect(content).toMatchObject({
      errors: expect.arrayContaining([
        expect.objectContaining({ file: 'apps/sessions.yaml', line: 7, column: 3 }),
      ]) as unknown[],
    });
  });
});

describe('what has not changed is not sent again', () => {
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [
      `apps/${index % 20}/f${index}.yaml`,
      configMap(`c${index}`, `${index}`.repeat(200)),
    ]),
  );

  test('a poll takes two requests and less than a kilobyte', async () => {
    const repository = await createRepository();
    await repository.commit(files, 'one');
    for (let branch = 0; branch < 30; branch += 1) await repository.commit({}, 'x', `other-${branch}`);
    await git.poll(sourceOf(repository));
    expect(proxy.requests).toHaveLength(2);
    expect(proxy.bytes).toBeLessThan(1024);
  });

  test('a commit costs what it changes; none costs a poll', async () => {
    const repository = await createRepository();
    await repository.commit(files, 'one');
    const source = sourceOf(repository);
    await read(source);
    expect(proxy.bytes).toBeGreaterThan(20_000);

    proxy.reset();
    await read(source);
    expect(proxy.requests).toHaveLength(2);

    for (const round of ['two', 'three', 'four']) {
      await repository.commit({ 'apps/1/f1.yaml': configMap(round) }, round);
      proxy.reset();
      expect((await read(source)).names).toContain(round);
      expect(proxy.bytes).toBeLessThan(8192);
    }
  });

  test('a commit that was just polled is not polled again', async () => {
    const repository = await createRepository();
    const expectedOid = await repository.commit(files, 'one');
    await git.read({ ...sourceOf(repository), path: '', parseOptions: PARSE, expectedOid });
    expect(proxy.requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });
});

describe('a branch that does not simply grow is followed', () => {
  test.each<[string, (repository: GitRepository) => Promise<unknown>, string[]]>([
    [
      'an amended commit',
      async (repository) => {
        await repository.reset(await firstCommit(repository));
        await repository.commit({ 'amended.yaml': configMap('amended') }, 'two, again');
      },
      ['a', 'amended'],
    ],
    ['a branch set back', async (repository) => repository.reset(await firstCommit(repository)), ['a']],
    [
      'a branch of other origin',
      async (repository) => {
        const other = await repository.commit({ 'other.yaml': configMap('other') }, 'other', 'orphan');
        await repository.reset(other);
      },
      ['other'],
    ],
    [
      'a merge of a branch older than the clone',
      async (repository) => {
        const tree = await serverGit(repository, 'merge-tree', '--write-tree', 'main', 'old');
        const merge = await serverGit(repository, 'commit-tree', tree, '-p', 'main', '-p', 'old', '-m', 'merge');
        await repository.reset(merge);
      },
      ['a', 'b', 'old'],
    ],
  ])('%s', async (_what, change, names) => {
    const repository = await createRepository();
    const first = await repository.commit({ 'a.yaml': configMap('a') }, 'one');
    await repository.reset(first, 'old');
    await repository.commit({ 'old.yaml': configMap('old') }, 'old', 'old');
    await repository.commit({ 'b.yaml': configMap('b') }, 'two');
    const source = sourceOf(repository);
    expect((await read(source)).names).toEqual(['a', 'b']);
    await change(repository);
    const reading = await read(source);
    expect(reading.names).toEqual(names);
    expect(reading.oid).toBe(await repository.head());
  });

  async function firstCommit(repository: GitRepository): Promise<string> {
    return serverGit(repository, 'rev-parse', 'old^');
  }
});

describe('what is not there is told apart', () => {
  test('an empty repository, a branch, a path, a repository', async () => {
    const repository = await createRepository();
    const source = sourceOf(repository);
    await expect(git.poll(source)).rejects.toMatchObject({ reason: 'EmptyRepository' });
    await expect(read(source)).rejects.toMatchObject({ reason: 'EmptyRepository' });
    await repository.commit({ 'a.yaml': configMap('a') }, 'one');
    await expect(git.poll({ ...source, branch: 'other' })).rejects.toMatchObject({ reason: 'BranchNotFound' });
    await expect(read(source, 'nowhere')).rejects.toMatchObject({ reason: 'PathNotFound' });
    await expect(git.poll({ ...source, url: `${source.url}.git` })).rejects.toMatchObject({ reason: 'NotGit' });
  });

  test('a branch that is deleted between two reads', async () => {
    const repository = await createRepository();
    await repository.commit({ 'a.yaml': configMap('a') }, 'one');
    await repository.commit({ 'a.yaml': configMap('a') }, 'one', 'stays');
    await read(sourceOf(repository));
    await repository.deleteBranch('main');
    await expect(read(sourceOf(repository))).rejects.toMatchObject({ reason: 'BranchNotFound' });
  });
});

describe('credentials', () => {
  test('go out with the first request, to the repository only', async () => {
    const repository = await createRepository();
    await repository.commit({ 'a.yaml': configMap('a') }, 'one');
    await read(sourceOf(repository));
    const { username, password } = lab().git;
    expect([...proxy.authorizations]).toEqual([`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`]);
  });

  test('that are wrong are refused at once, and open no clone of someone else', async () => {
    const repository = await createRepository();
    const expectedOid = await repository.commit({ 'a.yaml': configMap('a') }, 'one');
    const source = sourceOf(repository);
    await read(source);
    const wrong = { ...source, credentials: { ...source.credentials, password: 'wrong' } };
    await expect(git.poll(wrong)).rejects.toMatchObject({ reason: 'AuthenticationFailed' });
    await expect(git.read({ ...wrong, path: '', expectedOid })).rejects.toMatchObject({
      reason: 'AuthenticationFailed',
    });
  });

  test.each([
    ['another authority', async () => (await GitProxy.start().then(async (other) => (await other.stop(), other))).ca],
    ['no authority', () => Promise.resolve(undefined)],
  ])('are not sent to a server that is trusted by %s', async (_whose, authority) => {
    const repository = await createRepository();
    const source = sourceOf(repository);
    const credentials = { ...source.credentials, ca: await authority() };
    await expect(git.poll({ ...source, credentials })).rejects.toMatchObject({ reason: 'UntrustedCertificate' });
    expect(proxy.requests).toEqual([]);
  });

  test('are not sent to this machine unless it is allowed', async () => {
    const careful = new GitProcess({ childScript, clock: systemClock, logger: silentLogger, metrics: noMetrics });
    const source = sourceOf(await createRepository());
    await expect(careful.poll(source)).rejects.toMatchObject({ reason: 'AddressRefused' });
    const byName = { ...source, url: source.url.replace('127.0.0.1', 'localhost') };
    await expect(careful.poll(byName)).rejects.toMatchObject({ reason: 'AddressRefused' });
    expect(proxy.requests).toEqual([]);
    await careful.close();
  });
});
