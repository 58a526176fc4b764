import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LabDescription } from '../lab/index.ts';

const run = promisify(execFile);
const command = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** A member of a lab, and what `atoll join` is told about it. */
interface JoinOptions {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Further arguments of the command. */
  readonly further: readonly string[];
}

/** Plays `atoll join` for a member of the lab. @returns what the command printed */
export async function joinMember(lab: LabDescription, { name, labels, further }: JoinOptions): Promise<string> {
  const member = lab.members[name];
  if (member === undefined) throw new Error(`the lab has no member ${name}`);
  const text = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const { stdout } = await run(process.execPath, [
    command,
    'join',
    name,
    '--hub-kubeconfig',
    lab.hub.kubeconfigPath,
    '--kubeconfig',
    member.kubeconfigPath,
    '--labels',
    text,
    ...further,
  ]);
  return stdout;
}
