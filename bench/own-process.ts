import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** What a measuring process answers. */
type Message<Output> = { readonly output: Output } | { readonly failure: string };

/**
 * A process that measures, so that heap, event loop and CPU time are of nothing else. Its file calls {@link measure}, and
 * may call `gc()`. One question at a time.
 */
export class OwnProcess<Input extends object, Output> {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  constructor(file: URL) {
    this.#name = file.pathname.replace(/.*\//, '');
    this.#child = fork(file, { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#ended = this.#end();
    // Who asks hears of it; that nobody asks any more is no failure.
    this.#ended.catch(() => undefined);
  }

  get processId(): number {
    return this.#child.pid ?? Number.NaN;
  }

  async ask(input: Input): Promise<Output> {
    const answered = once(this.#child, 'message') as Promise<[Message<Output>]>;
    this.#child.send(input);
    const [message] = await Promise.race([answered, this.#ended]);
    if ('failure' in message) throw new Error(`${this.#name}: ${message.failure}`);
    return message.output;
  }

  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#ended.catch(() => undefined);
  }

  async #end(): Promise<never> {
    const [code, signal] = (await once(this.#child, 'exit')) as [number | null, string | null];
    throw new Error(`${this.#name} ended (${signal ?? code})`);
  }
}

/** Asks one question of a process of its own. */
export async function inOwnProcess<Output>(file: URL, input: object): Promise<Output> {
  const own = new OwnProcess<object, Output>(file);
  try {
    return await own.ask(input);
  } finally {
    await own.close();
  }
}

/** The other side of {@link OwnProcess}: answers each question, and ends when the parent has no more. */
export function measure(work: (input: never) => Promise<unknown>): void {
  const answer = (message: Message<unknown>): void => void process.send?.(message);
  process.on('message', (input: object) => {
    void work(input as never).then(
      (output) => answer({ output }),
      (error: unknown) => answer({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  process.once('disconnect', () => process.exit());
}

/** Bytes that are in use on the heap and beside it, after everything that can go has gone. */
export function collectedHeap(): number {
  if (globalThis.gc === undefined) throw new Error('this process was started without --expose-gc');
  for (let round = 0; round < 3; round += 1) globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Resident bytes when V8 has given back what it does not need: what the process stays at. */
export async function settledResident(): Promise<number> {
  await globalThis.gc?.({ type: 'major', execution: 'async', flavor: 'last-resort' });
  return process.memoryUsage.rss();
}

/** Milliseconds of CPU time that this process has used. */
export function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
