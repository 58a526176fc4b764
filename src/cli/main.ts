#!/usr/bin/env node
import { AtollError } from '../kernel/index.ts';
import { join, joinUsage } from './join.ts';

/** A command of `atoll`: its usage line and what it does with its arguments. */
interface Command {
  readonly usage: string;
  readonly run: (parameters: readonly string[]) => Promise<void>;
}

const commands: Readonly<Record<string, Command>> = { join: { usage: joinUsage, run: join } };

/** Runs the command that the first argument names. @returns the exit code: 0 done, 1 failed, 2 called wrongly */
async function main(parameters: readonly string[]): Promise<number> {
  const [name = '', ...rest] = parameters;
  const command = commands[name];
  if (command === undefined || rest.includes('--help')) {
    process.stderr.write(usage());
    return command !== undefined || ['--help', 'help'].includes(name) ? 0 : 2;
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

/** What `parseArgs` throws for options that it does not know. */
function isMisuse(error: unknown): boolean {
  return !(error instanceof AtollError) && error instanceof TypeError && 'code' in error;
}

process.exitCode = await main(process.argv.slice(2));
