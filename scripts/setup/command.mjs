// Runs other programs.

import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { constants as osConstants } from 'node:os';
import { delimiter, join } from 'node:path';
import { SetupError } from './report.mjs';

/** The absolute path of a program on the PATH, or undefined. */
export async function findProgram(name, path = process.env.PATH ?? '') {
  for (const folder of path.split(delimiter)) {
    const candidate = join(folder, name);
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

export async function isExecutable(path) {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs a program to its end and returns what it wrote to standard output. When it fails, the error ends with the last
 * lines of everything it wrote. `onLine` sees each line of both outputs as it comes.
 */
export async function capture(command, args, { onLine, ...options } = {}) {
  const { code, output, tail } = await runToEnd(command, args, { onLine, ...options });
  if (code !== 0) throw new Error(`\`${[command, ...args].join(' ')}\` failed:\n${tail.join('\n')}`);
  return output;
}

/**
 * Runs a program to its end: its exit code, its standard output, and everything it wrote, line by line in order of
 * arrival. A signal to this process ends that program first, and then this one by an error.
 */
export async function runToEnd(command, args, { onLine, ...options } = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let output = '';
  const lines = [];
  const keep = (line) => {
    lines.push(line);
    onLine?.(line);
  };
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  eachLine(child.stdout, keep);
  eachLine(child.stderr.setEncoding('utf8'), keep);
  const { code, received } = await forwardingSignals(child, 'close');
  if (received !== undefined) throw new SetupError(`stopped by ${received}`);
  return { code, output, lines, tail: lines.slice(-20) };
}

/**
 * Runs a program in the foreground and returns its exit code. It gets a process group of its own and receives each
 * signal that this process receives, so that Ctrl-C reaches it once per sender; when this process is killed, the kernel
 * tells it to end.
 */
export async function runInForeground(command, args, options = {}) {
  const [program, programArgs] =
    process.platform === 'linux' ? ['setpriv', ['--pdeathsig', 'TERM', '--', command, ...args]] : [command, args];
  const child = spawn(program, programArgs, { stdio: 'inherit', detached: true, ...options });
  const { code } = await forwardingSignals(child, 'exit');
  return code;
}

/** Waits for the end of a child and hands it every signal that this process receives meanwhile. */
async function forwardingSignals(child, endingEvent) {
  let received;
  const forward = (signal) => {
    received = signal;
    child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, forward);
  try {
    return await new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on(endingEvent, (code, signal) => resolve({ code: code ?? 128 + osConstants.signals[signal], received }));
    });
  } finally {
    for (const signal of signals) process.off(signal, forward);
  }
}

function eachLine(stream, callback) {
  let rest = '';
  stream.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(callback);
  });
  stream.on('end', () => {
    if (rest !== '') callback(rest);
  });
}
