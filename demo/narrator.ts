import { systemClock } from '../src/kernel/index.ts';

/** Tells the story: numbered steps with the time that each took, and what was seen. */
export class Narrator {
  readonly #started = systemClock.monotonic();
  #step = 0;

  /** Plays one step. What it answers is printed beside the time that it took. */
  async step(title: string, play: () => Promise<string | void>): Promise<void> {
    this.#step += 1;
    console.log(`\n${bold(`[${this.#step}] ${title}`)}`);
    const started = systemClock.monotonic();
    const outcome = await play();
    const seconds = ((systemClock.monotonic() - started) / 1000).toFixed(1);
    console.log(`    ${green('✓')} ${outcome ?? 'done'} ${dim(`(${seconds} s)`)}`);
  }

  /** A line inside a step. */
  say(line: string): void {
    console.log(`    ${line}`);
  }

  /** The output of a command that the reader could have typed. */
  show(command: string, output: string): void {
    console.log(`    ${dim('$')} ${command}`);
    for (const line of output.trimEnd().split('\n')) console.log(`      ${line}`);
  }

  /** Seconds since the narrator began. */
  elapsed(): string {
    return `${((systemClock.monotonic() - this.#started) / 1000).toFixed(0)} s`;
  }
}

const coloured = process.stdout.isTTY;

function bold(text: string): string {
  return coloured ? `\u001b[1m${text}\u001b[0m` : text;
}

function dim(text: string): string {
  return coloured ? `\u001b[2m${text}\u001b[0m` : text;
}

function green(text: string): string {
  return coloured ? `\u001b[32m${text}\u001b[0m` : text;
}
