import { hash } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { BlobCache } from './blob-cache.ts';
import { GitError } from './git-error.ts';
import { defaultGitLimits, type GitLimits } from './git-limits.ts';
import type { GitObject } from './repository.ts';
import { SnapshotReader } from './snapshot-reader.ts';

interface Leaf {
  readonly mode: string;
  readonly content: string;
}

type Node = string | Buffer | Leaf | { readonly [name: string]: Node };

function isLeaf(node: object): node is Leaf {
  return 'mode' in node && typeof node.mode === 'string';
}

const MANIFESTS = {
  folder: (path: string) => !/(?:^|\/)\.[^/]*$/.test(path),
  file: (path: string) => path.endsWith('.yaml'),
};

/** Objects in memory, made of nested folders. */
class Objects {
  readonly #objects = new Map<string, GitObject>();
  reads = 0;

  commit(root: Node): string {
    const tree = this.#add(root).oid;
    return this.#put('commit', Buffer.from(`tree ${tree}\nauthor A <a@example.com> 0 +0000\n\nmessage\n`));
  }

  read(oid: string): Promise<GitObject> {
    this.reads += 1;
    const object = this.#objects.get(oid);
    return object === undefined ? Promise.reject(new GitError('Corrupt', `no object ${oid}`)) : Promise.resolve(object);
  }

  #add(node: Node): { mode: string; oid: string } {
    if (typeof node === 'string' || Buffer.isBuffer(node)) {
      return { mode: '100644', oid: this.#put('blob', Buffer.from(node)) };
    }
    if (isLeaf(node)) return { mode: node.mode, oid: this.#put('blob', Buffer.from(node.content)) };
    const entries = Object.entries(node).flatMap(([name, child]) => {
      const { mode, oid } = this.#add(child);
      return [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')];
    });
    return { mode: '40000', oid: this.#put('tree', Buffer.concat(entries)) };
  }

  #put(type: string, content: Buffer): string {
    const oid = hash('sha1', Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]), 'hex');
    this.#objects.set(oid, { type, content });
    return oid;
  }
}

function read(root: Node, options: { path?: string; limits?: Partial<GitLimits> } = {}) {
  const repository = new Objects();
  const limits = { ...defaultGitLimits, ...options.limits };
  const texts = new BlobCache(1000).of('clone');
  const signal = new AbortController().signal;
  const reader = new SnapshotReader({ repository, filter: MANIFESTS, limits, texts, signal });
  return reader.read({ oid: repository.commit(root), branch: 'main', path: options.path ?? '' });
}

test('every wanted file below the path is in the snapshot, with its path from the root', async () => {
  const snapshot = await read(
    { 'top.yaml': '0', apps: { 'a.yaml': '1', 'notes.md': 'x', eu: { 'b.yaml': '2' } }, '.github': { 'ci.yaml': '3' } },
    { path: './apps/' },
  );
  expect(snapshot.files.map(({ path, content }) => [path, content])).toEqual([
    ['apps/a.yaml', '1'],
    ['apps/eu/b.yaml', '2'],
  ]);
  expect(snapshot.revision).toMatch(/^main@sha1:[\da-f]{40}$/);
});

describe('what cannot be read as it is, is named', () => {
  test.each<[string, Node, string]>([
    [
      'a link to a manifest',
      { apps: { 'a.yaml': { mode: '120000', content: '/etc/passwd' } } },
      'apps/a.yaml is a symbolic link',
    ],
    ['a link that may be a folder', { apps: { mode: '120000', content: 'elsewhere' } }, 'apps is a symbolic link'],
    ['a submodule', { vendor: { mode: '160000', content: '' } }, 'vendor is a submodule'],
    [
      'a Git LFS pointer',
      { 'a.yaml': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\n' },
      'a.yaml is a Git LFS pointer',
    ],
    ['another encoding', { 'a.yaml': Buffer.from('name: fröhlich', 'latin1') }, 'a.yaml is not UTF-8'],
  ])('%s', async (_what, root, message) => {
    await expect(read(root)).rejects.toThrow(
      expect.objectContaining({
        reason: 'UnsupportedContent',
        message: expect.stringContaining(message) as string,
      }) as Error,
    );
  });

  test('all of it at once', async () => {
    const link = { mode: '120000', content: 'x' };
    await expect(read({ 'a.yaml': link, 'b.yaml': link })).rejects.toThrow(/a\.yaml is .*; b\.yaml is /);
  });

  test('but not what would not have been read anyway', async () => {
    const link = { mode: '120000', content: 'x' };
    await expect(read({ 'README.md': link, '.config': { 'a.yaml': link } })).resolves.toMatchObject({ files: [] });
  });
});

describe('limits', () => {
  test.each<[string, Node, Partial<GitLimits>]>([
    ['a file too long', { 'a.yaml': 'x'.repeat(11) }, { fileBytes: 10 }],
    ['files too long in all', { 'a.yaml': 'x'.repeat(6), 'b.yaml': 'y'.repeat(6) }, { totalFileBytes: 10 }],
    ['too many files', { 'a.yaml': '1', 'b.yaml': '2' }, { files: 1 }],
    ['folders too deep', { a: { b: { c: { 'a.yaml': '1' } } } }, { depth: 2 }],
  ])('%s', async (_what, root, limits) => {
    await expect(read(root, { limits })).rejects.toThrow(expect.objectContaining({ reason: 'LimitExceeded' }) as Error);
  });
});

test.each([
  ['is not there', 'nowhere', 'the commit has no folder "nowhere"'],
  ['is a file', 'a.yaml', 'a.yaml is a file, not a folder'],
  ['leads through a file', 'a.yaml/b', 'a.yaml is a file, not a folder'],
])('a path that %s is said to be so', async (_what, path, message) => {
  await expect(read({ 'a.yaml': '1' }, { path })).rejects.toThrow(
    expect.objectContaining({ reason: 'PathNotFound', message }) as Error,
  );
});

test('a clone never sees the texts of another one', async () => {
  const cache = new BlobCache(1000);
  cache.of('one').set('oid', 'secret');
  expect(cache.of('two').get('oid')).toBeUndefined();
  expect(cache.of('one').get('oid')).toBe('secret');
});

test('texts that were not used for longest make room', () => {
  const texts = new BlobCache(10).of('clone');
  texts.set('a', '12345');
  texts.set('b', '12345');
  texts.get('a');
  texts.set('c', '1');
  expect([texts.get('a'), texts.get('b'), texts.get('c')]).toEqual(['12345', undefined, '1']);
});
