import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LabControl } from './control.ts';
import type { LabDescription, LabOptions, Progress } from './description.ts';
import type { LabMessage } from './main.ts';

/** A lab that this process started. */
export interface Lab extends LabDescription {
  readonly services: LabControl;
  /** Ends every process of the lab and removes its files. */
  stop(): Promise<void>;
}

/**
 * Starts real clusters, Redis and Git, and resolves when all of them answer. They are run by a process of their own,
 * which ends them when `stop` is called, and as well when this process ends, in whatever way it does.
 */
export async function startLab(options: LabOptions & { readonly progress: Progress }): Promise<Lab> {
  const child = fork(fileURLToPath(new URL('main.ts', import.meta.url)), argumentsFor(options), {
    execArgv: [],
    // Its own process group: Ctrl-C in a terminal is for the parent, who decides when the lab stops.
    detached: true,
  });
  const exited = once(child, 'exit');
  try {
    const description = await readyMessage(child, options.progress);
    const stop = async (): Promise<void> => {
      if (child.connected) child.disconnect();
      await exited;
    };
    return { ...description, services: new LabControl(description.control), stop };
  } catch (error) {
    await exited;
    throw error;
  }
}

function argumentsFor(options: LabOptions): string[] {
  return [
    `--members=${options.members.join(',')}`,
    ...(options.directory === undefined ? [] : [`--directory=${options.directory}`]),
    ...(options.audit ? [] : ['--no-audit']),
    ...(options.workloads ? [] : ['--no-workloads']),
  ];
}

async function readyMessage(child: ChildProcess, progress: Progress): Promise<LabDescription> {
  const { promise, resolve, reject } = Promise.withResolvers<LabDescription>();
  child.on('message', (message: LabMessage) => {
    if (message.kind === 'progress') progress(message.line);
    else if (message.kind === 'ready') resolve(message.description);
    else reject(new Error(`the lab did not start: ${message.message}`));
  });
  child.on('error', reject);
  child.on('exit', (code, signal) => reject(new Error(`the lab process ended early (${signal ?? code})`)));
  return promise;
}
