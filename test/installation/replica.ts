import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../lab/ports.ts';

const entry = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** One line of a replica's log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** What a replica is started with. */
export interface ReplicaOptions {
  readonly name: string;
  readonly hubKubeconfig: string;
  readonly redisUrl: string;
  /** File that the log is kept in. */
  readonly logFile: string;
  /** Further `ATOLL_*` variables. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** One replica of Atoll as a process of its own: the built `dist/main.js`, as it is shipped. */
export class Replica {
  readonly name: string;
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #lines: LogLine[] = [];

  private constructor(options: ReplicaOptions, port: number, child: ChildProcess) {
    this.name = options.name;
    this.url = `http://127.0.0.1:${port}`;
    this.#process = child;
    const file = createWriteStream(options.logFile, { flags: 'a' });
    child.stderr?.pipe(file, { end: false });
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      file.write(`${line}\n`);
      if (line.startsWith('{')) this.#lines.push(JSON.parse(line) as LogLine);
    });
  }

  /** Starts a replica; it is not ready yet. */
  static async start(options: ReplicaOptions): Promise<Replica> {
    const port = await freePort();
    const environment = {
      PATH: process.env['PATH'],
      ATOLL_HUB_KUBECONFIG: options.hubKubeconfig,
      ATOLL_REDIS_URL: options.redisUrl,
      ATOLL_REPLICA: options.name,
      ATOLL_BIND_ADDRESS: '127.0.0.1',
      ATOLL_HEALTH_PORT: String(port),
      ATOLL_PROFILING_PORT: '0',
      ATOLL_GIT_ALLOW_LOOPBACK: 'true',
      ...options.environment,
    };
    const child = spawn(process.execPath, [entry], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    return new Replica(options, port, child);
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Everything it has logged so far. */
  get log(): readonly LogLine[] {
    return this.#lines;
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Sends a signal and waits for the end. @returns the exit code, or the signal that ended it */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null> {
    if (this.running) {
      const exited = once(this.#process, 'exit');
      this.#process.kill(signal);
      await exited;
    }
    return this.#process.exitCode ?? this.#process.signalCode;
  }

  /** One of its health or metrics pages; undefined while it does not answer. */
  async page(path: 'livez' | 'readyz' | 'metrics'): Promise<{ status: number; text: string } | undefined> {
    try {
      const response = await fetch(`${this.url}/${path}`);
      return { status: response.status, text: await response.text() };
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }
}
