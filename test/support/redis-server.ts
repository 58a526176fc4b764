import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createRedis } from '../lab/redis-server.ts';
import type { Service } from '../lab/service.ts';

/** A Redis of a test's own, which it may kill, freeze and restart: it comes back empty, at the same address. */
export class RedisServer {
  readonly url: string;
  readonly #service: Service;
  readonly #directory: string;

  private constructor(directory: string, server: { readonly service: Service; readonly url: string }) {
    this.#directory = directory;
    this.#service = server.service;
    this.url = server.url;
  }

  /** Chooses a port and a password; `start` runs the server. */
  static async create(): Promise<RedisServer> {
    const directory = await mkdtemp(join(tmpdir(), 'atoll-redis-'));
    await mkdir(join(directory, 'logs'));
    return new RedisServer(directory, await createRedis(directory, redisProgram()));
  }

  /** Returns when the server answers. */
  async start(): Promise<void> {
    await this.#service.start();
  }

  /** SIGKILL: whatever was in it is gone, but for what was saved. */
  async kill(): Promise<void> {
    await this.#service.kill();
  }

  /** Writes what is in it to a file, from which it starts until that is forgotten. */
  async save(): Promise<void> {
    const connection = this.connect();
    try {
      await connection.save();
    } finally {
      connection.disconnect();
    }
  }

  /** Removes that file. */
  async forgetSaved(): Promise<void> {
    await rm(join(this.#directory, 'redis', 'dump.rdb'), { force: true });
  }

  /** SIGSTOP: connections stand, nothing answers. */
  freeze(): void {
    this.#service.signal('SIGSTOP');
  }

  /** SIGCONT. */
  thaw(): void {
    this.#service.signal('SIGCONT');
  }

  /** A connection for looking into the server from a test, which may also kill it. */
  connect(): Redis {
    const connection = new Redis(this.url);
    connection.on('error', () => undefined);
    return connection;
  }

  /** Stops the server and removes its files. */
  async stop(): Promise<void> {
    this.thaw();
    await this.#service.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** What the set-up found, else the one of the machine. */
export function redisProgram(): string {
  const programs = JSON.parse(process.env['ATOLL_LAB_PROGRAMS'] ?? '{}') as Readonly<Record<string, unknown>>;
  return typeof programs['redis-server'] === 'string' ? programs['redis-server'] : 'redis-server';
}
