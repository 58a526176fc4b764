import { fork, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import type { Cancel, Clock } from '../kernel/index.ts';
import { GitError } from './git-error.ts';
import type { ChildMessage, GitJob, JobMessage } from './git-job.ts';

/** How long after its own deadline a job's child is killed: it answers by itself unless it is stuck. */
const GRACE = 2000;
/** How often a busy child's memory is looked at. An allocation of some hundred MiB takes longer than that. */
const WATCH_INTERVAL = 200;
const KEPT_OUTPUT = 2000;

/** How much memory a child may take. */
export interface ChildMemory {
  /** JavaScript objects, in MiB. */
  readonly heapMebibytes: number;
  /** The whole process, with its buffers, in MiB. Watched where there is a /proc. */
  readonly residentMebibytes: number;
}

/** Options of {@link ChildHandle}. */
export interface ChildHandleOptions {
  readonly script: URL;
  /** The only folder it may write to; it removes it when its parent dies. */
  readonly directory: string;
  readonly memory: ChildMemory;
  readonly clock: Clock;
  readonly onExit: (death: ChildDeath) => void;
  readonly onMessage: (message: ChildMessage) => void;
}

/** How a child ended, and whose fault it was. */
export interface ChildDeath {
  readonly error: GitError;
  /** The job that did not answer in time, when that is why it was killed. */
  readonly overdue: number | undefined;
  /** The end of what it wrote to stderr: V8's last words. */
  readonly output: string;
}

/** One child process: started, given jobs, watched, killed. It has no environment, no shell, and one argument. */
export class ChildHandle {
  readonly #options: ChildHandleOptions;
  readonly #process: ChildProcess;
  readonly #deadlines = new Map<number, Cancel>();
  #stopWatching: Cancel | undefined;
  #killedFor: { error: GitError; overdue?: number } | undefined;
  #output = '';
  #exited = false;

  constructor(options: ChildHandleOptions) {
    this.#options = options;
    this.#process = fork(fileURLToPath(options.script), [options.directory], {
      env: {},
      execArgv: [
        `--max-old-space-size=${options.memory.heapMebibytes}`,
        '--disable-proto=delete',
        '--permission',
        '--allow-fs-read=*',
        `--allow-fs-write=${options.directory}`,
      ],
      serialization: 'json',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#process.stderr?.on('data', (data: Buffer) => {
      this.#output = (this.#output + data.toString()).slice(-KEPT_OUTPUT);
    });
    this.#process.on('message', (message) => this.#receive(message as ChildMessage));
    this.#process.once('error', (error) => this.#end(new GitError('InternalError', 'cannot start', { cause: error })));
    this.#process.once('exit', (code, signal) => this.#end(exitError(code, signal)));
  }

  /** The numbers of the jobs it is at. */
  get jobs(): readonly number[] {
    return [...this.#deadlines.keys()];
  }

  /** Hands over a job; its answers come by `onMessage`, its death by `onExit`. */
  give(id: number, job: GitJob): void {
    const overdue = new GitError('Timeout', `the repository was not read within ${job.timeout} ms`);
    const cancel = this.#options.clock.after(job.timeout + GRACE, () => this.#kill({ error: overdue, overdue: id }));
    this.#deadlines.set(id, cancel);
    this.#stopWatching ??= this.#watch();
    const message: JobMessage = { id, job };
    this.#process.send(message, (error) => {
      if (error !== null) this.#end(new GitError('InternalError', 'the child is gone', { cause: error }));
    });
  }

  /** Ends it at once. Resolves when it is gone. */
  async stop(): Promise<void> {
    if (this.#exited) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#process.once('exit', () => resolve());
    this.#kill({ error: new GitError('InternalError', 'Atoll is stopping') });
    await promise;
  }

  #receive(message: ChildMessage): void {
    if (message.type !== 'part') this.#forget(message.id);
    this.#options.onMessage(message);
  }

  #forget(id: number): void {
    this.#deadlines.get(id)?.();
    this.#deadlines.delete(id);
    if (this.#deadlines.size > 0) return;
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  #kill(reason: { error: GitError; overdue?: number }): void {
    this.#killedFor ??= reason;
    this.#process.kill('SIGKILL');
  }

  #end(error: GitError): void {
    if (this.#exited) return;
    this.#exited = true;
    for (const id of this.jobs) this.#forget(id);
    const { error: reason, overdue } = this.#killedFor ?? { error };
    this.#options.onExit({ error: reason, overdue, output: this.#output });
  }

  #watch(): Cancel {
    const { clock, memory } = this.#options;
    let watching = true;
    let cancel: Cancel = () => undefined;
    const look = async (): Promise<void> => {
      const resident = await residentMemory(this.#process.pid);
      if (!watching) return;
      if (resident > memory.residentMebibytes) this.#kill({ error: outOfMemory(`${memory.residentMebibytes} MiB`) });
      else cancel = clock.after(WATCH_INTERVAL, () => void look());
    };
    void look();
    return () => {
      watching = false;
      cancel();
    };
  }
}

/** In MiB; 0 where it cannot be known. */
async function residentMemory(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kibibytes = '0'] = /^VmRSS:\s*(\d+) kB$/m.exec(status) ?? [];
  return Number(kibibytes) / 1024;
}

function exitError(code: number | null, signal: NodeJS.Signals | null): GitError {
  // V8 aborts when its heap is full; a kill that is not ours is the kernel's, for the same reason.
  if (signal === 'SIGABRT' || signal === 'SIGKILL') return outOfMemory('it may have');
  return new GitError('InternalError', `the process that reads repositories ended (${signal ?? code})`);
}

function outOfMemory(limit: string): GitError {
  return new GitError('LimitExceeded', `reading the repository takes more memory than ${limit}`);
}
