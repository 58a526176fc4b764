#!/usr/bin/env node
import { joinUsage } from './join-usage.ts';
import { UsageError } from './usage-error.ts';

/** A command of `atoll`: its usage line and what it does with its arguments. */
interface Command {
  readonly usage: string;
  readonly run: (parameters: readonly string[]) => Promise<void>;
}

/** What a command needs is loaded when it runs: a Node that is too old cannot even load that. */
const commands: Readonly<Record<string, Command>> = {
  join: { usage: joinUsage, run: async (parameters) => (await import('./join.ts')).join(parameters) },
};
/** As `engines` in package.json has it. */
const OLDEST_NODE = 24;

/** Runs the command that the first argument names. @returns the exit code: 0 done, 1 failed, 2 called wrongly */
async function main(parameters: readonly string[]): Promise<number> {
  const [name = '', ...rest] = parameters;
  if (parameters.includes('--help') || name === 'help') {
    process.stdout.write(usage());
    return 0;
  }
  const command = commands[name];
  if (command === undefined) {
    process.stderr.write(usage());
    return 2;
  }
  if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
    process.stderr.write(`atoll: Node ${OLDEST_NODE} or newer is needed; this is ${process.version}\n`);
    return 1;
  }
  try {
    await command.run(rest);
    return 0;
  } catch (error) {
    process.stderr.write(`atoll ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return isMisuse(error) ? 2 : 1;
  }
}

function usage(): string {
  return `Usage:\n${Object.values(commands)
    .map((command) => `  ${command.usage}\n`)
    .join('')}`;
}

/** Ours, or what `parseArgs` throws for options that it does not know. */
function isMisuse(error: unknown): boolean {
  if (error instanceof UsageError) return true;
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_');
}

process.exitCode = await main(process.argv.slice(2));
