import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { GitProcess, type GitErrorReason, type GitProcessOptions, type PollRequest } from '../../src/git/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { GitRepository } from '../lab/index.ts';
import { type GitAnswer, GitProxy, type Tamper } from '../support/git-proxy.ts';
import { createRepository, eventually, lab, uniqueName } from '../support/lab.ts';
import type { GitReadingRequest } from '../support/git-reading-process.ts';
import type { Misbehaviour } from '../support/misbehaving-git-child.ts';

interface Paths {
  readonly paths: readonly string[];
}

const MEBIBYTE = 1024 * 1024;

let proxy: GitProxy;
let directory: string;
let git: GitProcess<Paths>;

beforeAll(async () => {
  proxy = await GitProxy.start();
  directory = await mkdtemp(join(tmpdir(), 'atoll-test-'));
  git = start({});
});
afterEach(() => proxy.reset());
afterAll(async () => {
  await git.close();
  expect(await readdir(directory)).toEqual([]);
  await rm(directory, { recursive: true });
  await proxy.stop();
});

function start(options: Partial<GitProcessOptions>): GitProcess<Paths> {
  return new GitProcess({
    childScript: new URL('../support/misbehaving-git-child.ts', import.meta.url),
    directory,
    allowLoopback: true,
    limits: { idleTimeout: 2000 },
    clock: systemClock,
    logger: silentLogger,
    metrics: noMetrics,
    ...options,
  });
}

function sourceOf(repository: GitRepository): PollRequest {
  const { username, password, url } = lab().git;
  const credentials = { username, password, ca: proxy.ca };
  return { url: repository.url.replace(url, proxy.url), branch: 'main', credentials, timeout: 30_000 };
}

async function read(source: PollRequest, how: Misbehaviour['how'] = 'nothing', of = git): Promise<readonly string[]> {
  const { content } = await of.read({ ...source, path: '', parseOptions: { how } satisfies Misbehaviour });
  return content.paths;
}

async function repositoryWith(files: Readonly<Record<string, string>>): Promise<GitRepository> {
  const repository = await createRepository();
  await repository.commit(files, 'one');
  return repository;
}

/** The child processes of this test that read repositories. */
async function gitChildren(): Promise<number[]> {
  const tasks = await readdir('/proc/self/task');
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/self/task/${task}/children`, 'utf8')));
  const children = lists.join(' ').split(' ').filter(Boolean).map(Number);
  const commands = await Promise.all(
    children.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')),
  );
  return children.filter((_child, index) => commands[index]?.includes('misbehaving-git-child'));
}

/** Does something to the answers that carry a pack. */
function toPacks(harm: (answer: GitAnswer) => GitAnswer | undefined): Tamper {
  return (answer) => (answer.body.includes('PACK') ? harm(answer) : answer);
}

function flipBit(answer: GitAnswer): GitAnswer {
  const body = Buffer.from(answer.body);
  body[body.indexOf('PACK') + 16]! ^= 1;
  return { ...answer, body };
}

describe('after harm to the transfer, the next read is well by itself', () => {
  test.each<[string, GitErrorReason, Tamper]>([
    [
      'a pack that ends early',
      'Corrupt',
      toPacks((answer) => ({ ...answer, stopAfter: { bytes: answer.body.length - 30, how: 'end' } })),
    ],
    ['a pack cut off at a line', 'Corrupt', toPacks((answer) => ({ ...answer, body: answer.body.subarray(0, -4) }))],
    ['a pack with a flipped bit', 'Corrupt', toPacks(flipBit)],
    [
      'a broken connection',
      'Unreachable',
      toPacks((answer) => ({ ...answer, stopAfter: { bytes: 60, how: 'break' } })),
    ],
    ['a stalled server', 'Timeout', toPacks((answer) => ({ ...answer, stopAfter: { bytes: 60, how: 'stall' } }))],
    ['a server that never answers', 'Timeout', toPacks(() => undefined)],
    [
      'a pack in place of which there is none',
      'Corrupt',
      toPacks((answer) => ({ ...answer, body: Buffer.from('0008NAK\n0000') })),
    ],
  ])('%s', async (_what, reason, tamper) => {
    const repository = await repositoryWith({ 'a.yaml': 'a' });
    const source = sourceOf(repository);
    proxy.tamper = tamper;
    await expect(read(source)).rejects.toMatchObject({ reason });
    proxy.reset();
    await expect(read(source)).resolves.toEqual(['a.yaml']);

    await repository.commit({ 'b.yaml': 'b' }, 'two');
    proxy.tamper = tamper;
    await expect(read(source)).rejects.toMatchObject({ reason });
    proxy.reset();
    await expect(read(source)).resolves.toEqual(['a.yaml', 'b.yaml']);
  });

  test('one damaged pack is not even noticed: the branch is cloned afresh', async () => {
    const source = sourceOf(await repositoryWith({ 'a.yaml': 'a' }));
    let damaged = 0;
    proxy.tamper = toPacks((answer) => ((damaged += 1) === 1 ? flipBit(answer) : answer));
    await expect(read(source)).resolves.toEqual(['a.yaml']);
    expect(damaged).toBe(2);
  });
});

describe('a server that is not as it should be is told apart', () => {
  const page = (status: number, headers: Record<string, string> = { 'content-type': 'text/html' }): Tamper => {
    return () => ({ status, headers, body: Buffer.from('<html>Please log in, hunter2</html>') });
  };
  test.each<[string, object, Tamper]>([
    ['a login page', { reason: 'NotGit' }, page(200)],
    [
      'a login page that says it is Git',
      { reason: 'NotGit' },
      page(200, { 'content-type': 'application/x-git-upload-pack-advertisement' }),
    ],
    ["Azure's login page", { reason: 'AuthenticationFailed' }, page(203)],
    ['a refusal', { reason: 'AuthenticationFailed' }, page(403)],
    ['a failure', { reason: 'Unreachable' }, page(500)],
    ['too many requests', { reason: 'Unreachable', retryAfterSeconds: 30 }, page(429, { 'retry-after': '30' })],
    ['a redirect', { reason: 'InvalidSource' }, page(302, { location: 'https://127.0.0.1:1/elsewhere' })],
    [
      'more than the limit',
      { reason: 'LimitExceeded' },
      (answer) => ({ ...answer, body: Buffer.alloc(65 * MEBIBYTE) }),
    ],
  ])('%s', async (_what, error, tamper) => {
    const source = sourceOf(await repositoryWith({ 'a.yaml': 'a' }));
    proxy.tamper = tamper;
    const refused = expect(git.poll(source)).rejects;
    await refused.toMatchObject(error);
    expect(proxy.requests).toHaveLength(1);
    await expect(git.poll(source)).rejects.not.toThrow(/hunter2/);
  });

  test('nobody listens', async () => {
    const other = await GitProxy.start();
    const url = `${other.url}/nothing.git`;
    await other.stop();
    await expect(git.poll({ ...sourceOf(await createRepository()), url })).rejects.toMatchObject({
      reason: 'Unreachable',
    });
  });

  test('a repository with other object names', async () => {
    const { git: server } = lab();
    const name = uniqueName('sha256');
    execFileSync('git', ['init', '--quiet', '--bare', '--object-format=sha256', join(server.root, `${name}.git`)]);
    const source = { ...sourceOf(await createRepository()), url: `${proxy.url}/${name}.git` };
    await expect(git.poll(source)).rejects.toMatchObject({ reason: 'UnsupportedContent' });
  });

  test('a server that names references outside of the clone changes nothing there', async () => {
    const source = sourceOf(await repositoryWith({ 'a.yaml': 'a' }));
    proxy.tamper = (answer, { method }) =>
      method === 'GET' ? withSymbolicReference(answer, '../../../../../../escaped') : answer;
    await expect(read(source)).rejects.toMatchObject({ reason: 'Corrupt' });
    expect(existsSync(join(directory, 'escaped'))).toBe(false);
    expect(existsSync(join(directory, '..', 'escaped'))).toBe(false);
  });

  /** Says that the branch is another name for one outside. */
  function withSymbolicReference(answer: GitAnswer, target: string): GitAnswer {
    const lines = answer.body
      .toString('latin1')
      .replace(/([\da-f]{4})([\da-f]{40} [^\0]+\0)([^\n]*)/, (_all, _length, head: string, rest: string) => {
        const line = `${head}${rest} symref=refs/heads/main:refs/heads/${target}`;
        return `${(line.length + 5).toString(16).padStart(4, '0')}${line}`;
      });
    return { ...answer, body: Buffer.from(lines, 'latin1') };
  }
});

test('a merge that drags in all history is read as a snapshot instead', async () => {
  const repository = await createRepository();
  let forked = '';
  for (let commit = 1; commit <= 10; commit += 1) forked = await repository.commit({ 'a.yaml': `${commit}` }, 'more');
  await repository.reset(forked, 'old');
  await repository.commit({ 'old.yaml': 'old' }, 'old', 'old');
  await repository.commit({ 'a.yaml': 'last' }, 'last');
  const frugal = start({ limits: { objects: 20 } });
  const source = sourceOf(repository);
  await read(source, 'nothing', frugal);

  const merge = ['commit-tree', 'main^{tree}', '-p', 'main', '-p', 'old', '-m', 'merge'];
  const identity = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  const env = { PATH: process.env['PATH'], ...identity };
  const oid = execFileSync('git', [`--git-dir=${repository.path}`, ...merge], { env, encoding: 'utf8' }).trim();
  await repository.reset(oid);
  proxy.reset();
  await expect(read(source, 'nothing', frugal)).resolves.toEqual(['a.yaml']);
  // Poll, fetch what is new, and a snapshot: each a discovery and a request.
  expect(proxy.requests).toHaveLength(6);
  await frugal.close();
});

describe('a repository that is too much costs a child at most', () => {
  test('a bomb is refused by its size', async () => {
    const repository = await repositoryWith({ 'bomb.yaml': '0'.repeat(64 * MEBIBYTE) });
    proxy.reset();
    await expect(read(sourceOf(repository))).rejects.toMatchObject({ reason: 'LimitExceeded' });
    expect(proxy.bytes).toBeLessThan(MEBIBYTE);
    await expect(read(sourceOf(await repositoryWith({ 'a.yaml': 'a' })))).resolves.toEqual(['a.yaml']);
  });

  test.each<[Misbehaviour['how'], GitErrorReason]>([
    ['hang', 'Timeout'],
    ['heap', 'LimitExceeded'],
    ['buffers', 'LimitExceeded'],
    ['exit', 'InternalError'],
  ])('a child that does not come back (%s) is ended, and the next read is well', async (how, reason) => {
    const limited = start({ memory: { heapMebibytes: 96, residentMebibytes: 400 } });
    const source = { ...sourceOf(await repositoryWith({ 'a.yaml': 'a' })), timeout: 10_000 };
    await expect(read({ ...source, timeout: how === 'hang' ? 2000 : 30_000 }, how, limited)).rejects.toMatchObject({
      reason,
    });
    await expect(read(source, 'nothing', limited)).resolves.toEqual(['a.yaml']);
    await limited.close();
  });

  test('polls that share a child with one that died are asked again', async () => {
    const source = sourceOf(await repositoryWith({ 'a.yaml': 'a' }));
    const other = sourceOf(await repositoryWith({ 'b.yaml': 'b' }));
    const others = await gitChildren();
    const fresh = start({ limits: { idleTimeout: 30_000 } });
    proxy.tamper = () => undefined;
    const polls = Promise.all([fresh.poll(source), fresh.poll(other)]);
    await eventually(() => Promise.resolve(proxy.requests.length === 2));
    proxy.reset();
    const [child = 0, ...more] = (await gitChildren()).filter((pid) => !others.includes(pid));
    expect(more).toEqual([]);
    process.kill(child, 'SIGKILL');
    await expect(polls).resolves.toHaveLength(2);
    await fresh.close();
  });
});

test('a child knows no credentials but those that come through its pipe', async () => {
  const source = sourceOf(await repositoryWith({ 'a.yaml': 'a' }));
  proxy.tamper = toPacks(() => undefined);
  const reading = read(source);
  await eventually(() => Promise.resolve(proxy.requests.length >= 3));
  const { password } = lab().git;
  const children = await gitChildren();
  expect(children.length).toBeGreaterThan(0);
  for (const child of children) {
    expect(await readFile(`/proc/${child}/cmdline`, 'utf8')).not.toContain(password);
    const environment = (await readFile(`/proc/${child}/environ`, 'utf8')).split('\0').filter(Boolean);
    expect(environment.filter((variable) => !variable.startsWith('NODE_CHANNEL_'))).toEqual([]);
  }
  for (const file of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) expect(await readFile(join(file.parentPath, file.name), 'latin1')).not.toContain(password);
  }
  await expect(reading).rejects.toMatchObject({ reason: 'Timeout' });
});

test('children of a parent that was killed go too, and remove the clones', async () => {
  const source = sourceOf(await repositoryWith({ 'a.yaml': 'a' }));
  const orphaned = await mkdtemp(join(directory, 'orphaned-'));
  const parent = fork(new URL('../support/git-reading-process.ts', import.meta.url));
  const answered = once(parent, 'message');
  const parseOptions: Misbehaviour = { how: 'nothing' };
  parent.send({ directory: orphaned, request: { ...source, path: '', parseOptions } } satisfies GitReadingRequest);
  await answered;
  expect(await readdir(orphaned)).toHaveLength(1);
  parent.kill('SIGKILL');
  await eventually(async () => (await readdir(orphaned)).length === 0);
  await rm(orphaned, { recursive: true });
});

test('closing ends the children and their jobs, and removes the clones', async () => {
  const source = sourceOf(await repositoryWith({ 'a.yaml': 'a' }));
  const closing = start({});
  await read(source, 'nothing', closing);
  proxy.tamper = () => undefined;
  const polling = expect(closing.poll(source)).rejects.toMatchObject({ reason: 'InternalError' });
  await eventually(() => Promise.resolve(proxy.requests.length > 0));
  const folders = await readdir(directory);
  await closing.close();
  await polling;
  expect((await readdir(directory)).length).toBe(folders.length - 1);
  await expect(closing.poll(source)).rejects.toMatchObject({ reason: 'InternalError' });
});
