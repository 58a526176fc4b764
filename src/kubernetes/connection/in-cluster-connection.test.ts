import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger, systemClock } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { InClusterConnection } from './in-cluster-connection.ts';
import type { InClusterOptions } from './in-cluster-connection.ts';

let directory: string;
let now: number;
const clock: Clock = { ...systemClock, monotonic: () => now };

beforeEach(async () => {
  now = 0;
  directory = await mkdtemp(join(tmpdir(), 'atoll-in-cluster-'));
  await writeFile(join(directory, 'ca.crt'), 'CA');
  await writeFile(join(directory, 'token'), 'first\n');
});

afterEach(() => rm(directory, { recursive: true, force: true }));

function open(options: Partial<InClusterOptions> = {}): InClusterConnection {
  return InClusterConnection.open({
    clock,
    logger: silentLogger,
    directory,
    host: '10.0.0.1',
    port: '443',
    ...options,
  });
}

async function tokenOf(source: InClusterConnection): Promise<string | undefined> {
  const { token } = source.current();
  return typeof token === 'function' ? await token() : token;
}

test('server and CA are those of the pod', () => {
  expect(open().current()).toMatchObject({ server: 'https://10.0.0.1:443', caData: 'CA' });
  expect(open({ host: 'fd00::1' }).current().server).toBe('https://[fd00::1]:443');
});

test('a renewed token is used a minute later, not before, on the same connection', async () => {
  const source = open();
  const connection = source.current();
  await writeFile(join(directory, 'token'), ' second\n');
  now = 59_999;
  expect(await tokenOf(source)).toBe('first');
  now = 60_000;
  expect(await tokenOf(source)).toBe('second');
  expect(source.current()).toBe(connection);
});

test('a renewed token is used at once when the server does not accept the former', async () => {
  const source = open();
  await writeFile(join(directory, 'token'), 'second\n');
  await source.refresh();
  expect(await tokenOf(source)).toBe('second');
});

test('another CA is another connection', async () => {
  const source = open();
  const connection = source.current();
  await writeFile(join(directory, 'ca.crt'), 'CA 2');
  now = 60_000;
  expect(source.current()).not.toBe(connection);
  expect(source.current().caData).toBe('CA 2');
});

test('files that are gone leave what was read, and say so once a minute', async () => {
  const warnings: string[] = [];
  const source = open({ logger: { ...silentLogger, warn: (message) => warnings.push(message) } });
  await rm(directory, { recursive: true });
  now = 60_000;
  expect(await tokenOf(source)).toBe('first');
  expect(await tokenOf(source)).toBe('first');
  expect(warnings).toHaveLength(1);
  await expect(source.refresh()).rejects.toThrow('ca.crt');
});

test('outside of a pod it says which file is missing', () => {
  expect(() => open({ directory: join(directory, 'nowhere') })).toThrow('ca.crt');
});
