import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { systemClock } from '../../src/kernel/index.ts';
import type { Random } from '../../src/kernel/index.ts';
import { eventually } from './eventually.ts';
import { keyOf, QueueReplica } from './queue-replica.ts';
import { RedisServer } from './redis-server.ts';

const WORKERS = 3;
const NAMES = Array.from({ length: 200 }, (_, index) => `k${index}`);
/** Versions that are asked for in one round trip, and how long at most until the next. */
const BURST = 6;
const PAUSE = 12;
/** A lock lasts for 8 s: who was frozen for longer has lost it. */
const FROZEN = 10_000;
/** Longer than a run, so that none is under way when the keys come again. */
const DOWN = 1000;
const HANGING = 3000;
/** For stalled keys to be found, and for the longest backoff that so many failures in a row have led to. */
const SETTLING = 90_000;
const PREFIX = 'fuzz';
const PROGRAM = fileURLToPath(new URL('queue-fuzz-process.ts', import.meta.url));

/** What was done, and what came of it. */
export interface FuzzCounts {
  readonly adds: number;
  readonly runs: number;
  readonly failures: number;
  /** Runs that wrote though somebody else had begun to run the key. */
  readonly overlaps: number;
  /** Keys whose last run did not see what was asked for last. */
  readonly lost: number;
  /** Milliseconds until the last key had run after adding ended, of the slowest round. */
  readonly slowest: number;
}

/**
 * Three processes work one queue, which is harder than what owners of shards do, while two replicas add keys at random,
 * and workers and Redis are disturbed. What runs saw is noted in a Redis of its own, which nothing happens to.
 */
export class QueueFuzz {
  readonly #random: Random;
  readonly #server: RedisServer;
  readonly #notesServer: RedisServer;
  readonly #notes: Redis;
  readonly #producers: readonly QueueReplica[];
  readonly #workers: ChildProcess[];
  #adds = 0;
  #slowest = 0;
  #lost = 0;

  private constructor(random: Random, server: RedisServer, notesServer: RedisServer) {
    this.#random = random;
    this.#server = server;
    this.#notesServer = notesServer;
    this.#notes = notesServer.connect();
    this.#producers = [0, 1].map(() => new QueueReplica(server.url, PREFIX));
    // As informers do: what was lost is what they hold.
    for (const { workqueues, queue } of this.#producers)
      workqueues.onDataLoss(() => NAMES.forEach((name) => queue.add(keyOf(name), { priority: 'resync' })));
    this.#workers = Array.from({ length: WORKERS }, () => this.#spawn());
  }

  /** Returns when every worker works. */
  static async open(random: Random): Promise<QueueFuzz> {
    const server = await RedisServer.create();
    const notesServer = await RedisServer.create();
    await Promise.all([server.start(), notesServer.start()]);
    const fuzz = new QueueFuzz(random, server, notesServer);
    await fuzz.round(1000, []);
    return fuzz;
  }

  /** Adds keys for so many milliseconds, meets the disturbances one after the other, and waits until all is done. */
  async round(milliseconds: number, disturbances: readonly FuzzDisturbance[]): Promise<void> {
    const disturbed = new AbortController();
    const adding = this.#addAtRandom(milliseconds, disturbed.signal);
    for (const disturbance of disturbances) {
      await systemClock.sleep(this.#random() * 500);
      await this.#meet(disturbance);
    }
    disturbed.abort();
    await adding;
    await this.#settle();
  }

  async counts(): Promise<FuzzCounts> {
    const [runs, failures] = await this.#notes.mget('runs', 'failures');
    const overlaps = await this.#notes.hvals('overlaps');
    return {
      adds: this.#adds,
      runs: Number(runs),
      failures: Number(failures),
      overlaps: overlaps.reduce((sum, count) => sum + Number(count), 0),
      lost: this.#lost,
      slowest: this.#slowest,
    };
  }

  /** What BullMQ still marks as waiting or running. */
  async marks(): Promise<readonly string[]> {
    const connection = this.#server.connect();
    try {
      return await connection.keys(`${PREFIX}:queue:{m1}:d[en]:*`);
    } finally {
      connection.disconnect();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => kill(worker)));
    await Promise.all(this.#producers.map((producer) => producer.close()));
    this.#notes.disconnect();
    await Promise.all([this.#server.stop(), this.#notesServer.stop()]);
  }

  #spawn(): ChildProcess {
    const args = [PROGRAM, this.#server.url, PREFIX, this.#notesServer.url];
    return spawn(process.execPath, args, { stdio: 'inherit' });
  }

  /** Goes on for as long as anything is disturbed. */
  async #addAtRandom(milliseconds: number, disturbed: AbortSignal): Promise<void> {
    const end = systemClock.monotonic() + milliseconds;
    while (systemClock.monotonic() < end || !disturbed.aborted) {
      const names = Array.from({ length: BURST }, () => this.#pick(NAMES));
      const versions = this.#notes.pipeline();
      for (const name of names) versions.hincrby('version', name, 1);
      await versions.exec();
      for (const name of names) this.#add(name);
      await systemClock.sleep(this.#random() * PAUSE);
    }
  }

  #add(name: string): void {
    const { queue } = this.#pick(this.#producers);
    const choice = this.#random();
    this.#adds += 1;
    if (choice < 0.2) queue.addAfter(keyOf(name), this.#random() * 300);
    else queue.add(keyOf(name), { priority: choice < 0.4 ? 'resync' : 'event' });
  }

  async #meet(disturbance: FuzzDisturbance): Promise<void> {
    const index = Math.floor(this.#random() * WORKERS);
    const worker = this.#workers[index];
    switch (disturbance) {
      case 'kill a worker':
        await kill(worker);
        this.#workers[index] = this.#spawn();
        return;
      case 'freeze a worker':
        worker?.kill('SIGSTOP');
        await systemClock.sleep(FROZEN);
        worker?.kill('SIGCONT');
        return;
      case 'freeze Redis':
        this.#server.freeze();
        await systemClock.sleep(HANGING);
        this.#server.thaw();
        return;
      case 'restart Redis empty':
        return this.#restart();
      case 'restart Redis from a file':
        await this.#server.save();
        // The file lacks the last moment.
        await systemClock.sleep(this.#random() * 300);
        return this.#restart();
    }
  }

  async #restart(): Promise<void> {
    await this.#server.kill();
    await systemClock.sleep(DOWN);
    await this.#server.start();
    // What is started the next time begins empty again.
    await this.#server.forgetSaved();
  }

  async #settle(): Promise<void> {
    const since = systemClock.monotonic();
    try {
      await eventually(async () => (await this.#behind()).length === 0, { timeout: SETTLING });
    } catch {
      this.#lost += (await this.#behind()).length;
    }
    this.#slowest = Math.max(this.#slowest, systemClock.monotonic() - since);
  }

  /** Keys whose last run did not see what was asked for last. */
  async #behind(): Promise<readonly string[]> {
    const [version, seen] = await Promise.all([this.#notes.hgetall('version'), this.#notes.hgetall('seen')]);
    return Object.keys(version).filter((name) => version[name] !== seen[name]);
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }
}

/** What {@link QueueFuzz} does to its parts. */
export type FuzzDisturbance = (typeof FUZZ_DISTURBANCES)[number];

/** All that there are. */
export const FUZZ_DISTURBANCES = [
  'kill a worker',
  'freeze a worker',
  'freeze Redis',
  'restart Redis empty',
  'restart Redis from a file',
] as const;

async function kill(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
