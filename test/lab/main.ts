/**
 * The lab process. `startLab` runs it as a child and talks to it over Node's message channel; a developer runs it as
 * `node scripts/run.mjs --lab test/lab/main.ts --directory <folder>`, reads `<folder>/description.json`, and ends it with
 * Ctrl-C. When the channel breaks, the parent is gone, and the lab stops as if told to.
 */
import { parseArgs } from 'node:util';
import type { LabDescription, LabOptions } from './description.ts';
import { LabHost } from './host.ts';

/** What the lab process tells its parent. */
export type LabMessage =
  | { readonly kind: 'progress'; readonly line: string }
  | { readonly kind: 'ready'; readonly description: LabDescription }
  | { readonly kind: 'failed'; readonly message: string };

function readOptions(): LabOptions {
  const { values } = parseArgs({
    options: {
      directory: { type: 'string' },
      members: { type: 'string', default: 'eu-1,us-1,ap-1' },
      'no-audit': { type: 'boolean', default: false },
      'no-workloads': { type: 'boolean', default: false },
    },
  });
  return {
    ...(values.directory !== undefined && { directory: values.directory }),
    members: values.members.split(',').filter((name) => name !== ''),
    audit: !values['no-audit'],
    workloads: !values['no-workloads'],
  };
}

const hasParent = process.send !== undefined;

function tell(message: LabMessage): void {
  if (!hasParent) console.log(describe(message));
  else if (process.connected) process.send?.(message);
}

function describe(message: LabMessage): string {
  if (message.kind === 'progress') return message.line;
  if (message.kind === 'failed') return `The lab did not start: ${message.message}`;
  return `The lab is up: ${message.description.directory}/description.json. Ctrl-C ends it.`;
}

async function main(): Promise<void> {
  const { promise: told, resolve } = Promise.withResolvers<void>();
  let stopping = false;
  const stop = (): void => {
    stopping = true;
    resolve();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  process.on('disconnect', stop);

  const options = readOptions();
  const host = await LabHost.create(options, (line) => tell({ kind: 'progress', line }));
  const started = host.start(options, process.env).then(
    (description) => tell({ kind: 'ready', description }),
    (error: unknown) => {
      if (stopping) return;
      process.exitCode = 1;
      tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
      stop();
    },
  );
  await told;
  await host.stop();
  // What was still starting fails now that its neighbours are gone, and may have left something running.
  await started;
  await host.stop();
  if (process.connected) process.disconnect();
}

await main();
