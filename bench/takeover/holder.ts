import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('holder-process.ts', import.meta.url));

/** What a holder's process is given. */
export interface HolderArguments {
  readonly redisUrl: string;
  readonly kubeconfigPath: string;
  /** Of replicas that share shards: prefix of their keys in Redis, and namespace of their Leases. */
  readonly group: string;
  readonly name: string;
  readonly shards: readonly string[];
}

/** A line of a holder's process. */
export interface ShardEvent {
  readonly kind: 'gained' | 'lost';
  readonly shard: string;
  /** Milliseconds since the Unix epoch, by the machine's clock. */
  readonly at: number;
}

/** A replica as far as its shards go, in a process of its own. */
export class Holder {
  readonly name: string;
  /** Shard → when it was gained. */
  readonly held = new Map<string, number>();
  readonly #child: ChildProcess;

  constructor(options: HolderArguments) {
    this.name = options.name;
    const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', (line) => this.#note(JSON.parse(line) as ShardEvent));
  }

  /** Sends a signal, and waits for the end. @throws Error when it did not end by it, or not with 0 */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const exited = once(this.#child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    this.#child.kill(signal);
    const [code, by] = await exited;
    if (signal === 'SIGTERM' ? code !== 0 : by !== signal) throw new Error(`${this.name} ended with ${by ?? code}`);
  }

  /** Ends the process whatever it does. */
  destroy(): void {
    this.#child.kill('SIGKILL');
  }

  #note({ kind, shard, at }: ShardEvent): void {
    if (kind === 'gained') this.held.set(shard, at);
    else this.held.delete(shard);
  }
}
