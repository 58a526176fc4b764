import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../lab/ports.ts';
import { Service } from '../lab/service.ts';
import { eventually } from './eventually.ts';
import { redisProgram } from './redis-server.ts';

/** One redis-server process, as part of a Sentinel or Cluster set-up. */
export interface RedisNode {
  readonly port: number;
  readonly service: Service;
  readonly client: Redis;
}

const HOST = '127.0.0.1';

/** Several Redis processes on loopback that share a password: a master with replica and Sentinels, or a Cluster. */
export class RedisTopology {
  readonly password = randomBytes(8).toString('hex');
  readonly #directory: string;
  readonly #nodes: RedisNode[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async create(): Promise<RedisTopology> {
    const directory = await mkdtemp(join(tmpdir(), 'atoll-redis-'));
    return new RedisTopology(directory);
  }

  /** A server that keeps nothing on disk. */
  async server(...lines: readonly string[]): Promise<RedisNode> {
    return this.#run([
      `requirepass ${this.password}`,
      `masterauth ${this.password}`,
      'save ""',
      'appendonly no',
      'repl-diskless-sync-delay 0',
      'maxmemory-policy noeviction',
      ...lines,
    ]);
  }

  /** A Sentinel, alone a quorum, that gives a silent master up after a second. */
  async sentinel(master: RedisNode): Promise<RedisNode> {
    return this.#run(
      [
        `requirepass ${this.password}`,
        `sentinel monitor shared ${HOST} ${master.port} 1`,
        `sentinel auth-pass shared ${this.password}`,
        'sentinel down-after-milliseconds shared 1000',
        'sentinel failover-timeout shared 5000',
      ],
      ['--sentinel'],
    );
  }

  /** Three masters, each with a third of the slots. */
  async cluster(): Promise<readonly RedisNode[]> {
    const nodes: RedisNode[] = [];
    const buses: number[] = [];
    const cuts = [0, 5461, 10_923, 16_384];
    for (let index = 0; index < 3; index += 1) {
      const bus = await freePort();
      const node = await this.server('cluster-enabled yes', `cluster-port ${bus}`, 'cluster-node-timeout 2000');
      buses.push(bus);
      await node.client.call('CLUSTER', 'ADDSLOTSRANGE', cuts[index] ?? 0, (cuts[index + 1] ?? 0) - 1);
      nodes.push(node);
    }
    for (const [index, { port }] of nodes.entries()) {
      if (index > 0) await nodes[0]?.client.call('CLUSTER', 'MEET', HOST, port, buses[index] ?? 0);
    }
    await eventually(async () => {
      const states = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'INFO')));
      return states.every((state) => String(state).includes('cluster_state:ok'));
    });
    return nodes;
  }

  /** Writes files, and answers where they lie. */
  async files(contents: Readonly<Record<string, string>>): Promise<(name: string) => string> {
    const path = (name: string): string => join(this.#directory, name);
    for (const [name, text] of Object.entries(contents)) await writeFile(path(name), text, { mode: 0o600 });
    return path;
  }

  url(node: RedisNode): string {
    return `redis://:${this.password}@${HOST}:${node.port}`;
  }

  async stop(): Promise<void> {
    for (const { client } of this.#nodes) client.disconnect();
    await Promise.all(this.#nodes.map(({ service }) => service.stop()));
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #run(lines: readonly string[], args: readonly string[] = []): Promise<RedisNode> {
    const port = await freePort();
    const folder = join(this.#directory, String(port));
    await mkdir(folder);
    const configuration = join(folder, 'redis.conf');
    const general = [`bind ${HOST}`, `port ${port}`, `dir ${folder}`];
    await writeFile(configuration, `${[...general, ...lines].join('\n')}\n`, { mode: 0o600 });
    const client = new Redis({ port, host: HOST, password: this.password, lazyConnect: true });
    client.on('error', () => undefined);
    const service = new Service({
      name: `redis-${port}`,
      command: redisProgram(),
      args: [configuration, ...args],
      log: join(folder, 'redis.log'),
      ready: async () => void (await client.ping()),
    });
    const node = { port, service, client };
    this.#nodes.push(node);
    await service.start();
    return node;
  }
}
