import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { systemClock } from '../../src/kernel/index.ts';

export interface ServiceOptions {
  /** Unique in the lab, for example `eu-1/kube-apiserver`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Appended to across restarts. */
  readonly log: string;
  /** Resolves when the service answers; is tried until it does. Without it, running is being ready. */
  readonly ready?: () => Promise<void>;
}

const startTimeout = 120_000;
const stopTimeout = 8_000;

/**
 * One program that the lab runs. It is started through `setpriv --pdeathsig`, so that the kernel ends it should the lab
 * process be killed before it could do so itself.
 */
export class Service {
  readonly name: string;
  readonly #options: ServiceOptions;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #ending = false;

  constructor(options: ServiceOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get processId(): number | undefined {
    return this.running ? this.#child?.pid : undefined;
  }

  /** True when the program ended though nobody ended it. */
  get crashed(): boolean {
    return this.#child !== undefined && !this.running && !this.#ending;
  }

  /** Starts the program and waits until it is ready. Does nothing when it runs. */
  async start(): Promise<void> {
    if (this.running) return;
    await this.#spawn();
    const deadline = systemClock.monotonic() + startTimeout;
    for (;;) {
      if (!this.running) throw this.#failure('ended while starting');
      try {
        await this.#options.ready?.();
        return;
      } catch (error) {
        if (systemClock.monotonic() > deadline) throw this.#failure('did not become ready', error);
      }
      await systemClock.sleep(100);
    }
  }

  /** Ends the program: politely, then by force. */
  async stop(): Promise<void> {
    this.#ending = true;
    this.signal('SIGTERM');
    this.signal('SIGCONT');
    const cancel = systemClock.after(stopTimeout, () => this.signal('SIGKILL'));
    await this.#exited;
    cancel();
  }

  /** Ends the program at once, as a crash would. */
  async kill(): Promise<void> {
    this.#ending = true;
    this.signal('SIGKILL');
    await this.#exited;
  }

  /** Rejects when the program ends though nobody ended it; never resolves. */
  async crash(): Promise<never> {
    await this.#exited;
    if (this.crashed) throw this.#failure('ended on its own');
    return Promise.withResolvers<never>().promise;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.running) this.#child?.kill(signal);
  }

  /** The end of the program's log. */
  lastWords(): string {
    return readFileSync(this.#options.log, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
  }

  async #spawn(): Promise<void> {
    const { command, args, log } = this.#options;
    const output = openSync(log, 'a');
    try {
      this.#ending = false;
      this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', command, ...args], {
        stdio: ['ignore', output, output],
        // Its own process group: Ctrl-C in a terminal reaches the lab only, which then stops everything in order.
        detached: true,
      });
      this.#exited = once(this.#child, 'exit');
      await once(this.#child, 'spawn');
    } finally {
      closeSync(output);
    }
  }

  #failure(what: string, cause?: unknown): Error {
    return new Error(`${this.name} ${what}; its last words:\n${this.lastWords()}`, { cause });
  }
}
