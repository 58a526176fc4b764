import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../kernel/index.ts';
import type { Clock } from '../kernel/index.ts';
import { inClusterConnection } from './in-cluster-connection.ts';

let directory: string;
let now: number;
const clock: Clock = { ...systemClock, monotonic: () => now };

beforeEach(async () => {
  now = 0;
  directory = await mkdtemp(join(tmpdir(), 'atoll-in-cluster-'));
  await writeFile(join(directory, 'ca.crt'), 'CA');
  await writeFile(join(directory, 'token'), 'first\n');
});

afterEach(() => rm(directory, { recursive: true }));

test('server and CA are those of the pod', () => {
  expect(inClusterConnection({ clock, directory, host: '10.0.0.1', port: '443' })).toMatchObject({
    server: 'https://10.0.0.1:443',
    caData: 'CA',
  });
  expect(inClusterConnection({ clock, directory, host: 'fd00::1', port: '443' }).server).toBe('https://[fd00::1]:443');
});

test('a renewed token is used a minute later, not before', async () => {
  const { token } = inClusterConnection({ clock, directory, host: '10.0.0.1', port: '443' });
  if (typeof token !== 'function') throw new Error('the token is not renewed');
  await writeFile(join(directory, 'token'), 'second\n');
  now = 59_999;
  expect(token()).toBe('first');
  now = 60_000;
  expect(token()).toBe('second');
});

test('outside of a pod it says which file is missing', () => {
  const nowhere = join(directory, 'nowhere');
  expect(() => inClusterConnection({ clock, directory: nowhere, host: '10.0.0.1', port: '443' })).toThrow('ca.crt');
});
