import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/index.ts';
import { eventually } from '../support/eventually.ts';
import { keyOf } from '../support/queue-replica.ts';
import { useQueues } from '../support/use-queues.ts';

const WORKERS = 3;
const ADDING = 4000;
const BETWEEN_KILLS = 1200;
const NAMES = Array.from({ length: 10 }, (_, index) => `k${index}`);

const { server, inspection, keyPrefix, partOfQueue, replica } = useQueues();
const program = fileURLToPath(new URL('../support/queue-fuzz-process.ts', import.meta.url));
const children: ChildProcess[] = [];

function worker(): ChildProcess {
  const child = spawn(process.execPath, [program, server().url, keyPrefix()], { stdio: 'inherit' });
  children.push(child);
  return child;
}

async function kill(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Asks for a new version of a key, at random, until the time is over. Returns how often. */
async function addAtRandom(): Promise<number> {
  const producer = replica();
  const end = systemClock.monotonic() + ADDING;
  let adds = 0;
  while (systemClock.monotonic() < end) {
    const name = NAMES[Math.floor(Math.random() * NAMES.length)] ?? '';
    await inspection().hincrby('version', name, 1);
    producer.queue.add(keyOf(name), { priority: Math.random() < 0.3 ? 'resync' : 'event' });
    adds += 1;
    await systemClock.sleep(Math.random() * 10);
  }
  return adds;
}

/** Kills a worker now and then, and starts another in its place. */
async function killAtRandom(workers: ChildProcess[], signal: AbortSignal): Promise<void> {
  for (let victim = 0; ; victim = (victim + 1) % workers.length) {
    await systemClock.sleep(BETWEEN_KILLS, signal);
    if (signal.aborted) return;
    await kill(workers[victim]);
    workers[victim] = worker();
  }
}

afterEach(async () => {
  await Promise.all(children.map((child) => kill(child)));
});

it('no add is lost and no key runs twice at a time, though workers of one queue are killed', async () => {
  const workers = Array.from({ length: WORKERS }, () => worker());
  await eventually(async () => (await inspection().exists(partOfQueue('stalled-check'))) === 1);
  const stop = new AbortController();
  const killing = killAtRandom(workers, stop.signal);
  const adds = await addAtRandom();
  stop.abort();
  await killing;
  await eventually(
    async () => {
      expect(await inspection().hgetall('seen')).toEqual(await inspection().hgetall('version'));
      return true;
    },
    { timeout: 45_000, message: 'every key ran after it was last added' },
  );
  expect(await inspection().hgetall('overlaps')).toEqual({});
  expect(adds).toBeGreaterThan(100);
  await eventually(async () => (await inspection().keys(partOfQueue('d[en]:*'))).length === 0, {
    message: 'no key stays marked as waiting or running',
  });
});
