import { rmSync } from 'node:fs';

import { systemClock, type Snapshot, formatExact } from '../kernel/index.ts';
import { BlobCache } from './blob-cache.ts';
import { GitError } from './git-error.ts';
import type { ChildMessage, GitJob, JobMessage, ReadJob, SentError } from './git-job.ts';
import { HttpTransport } from './http-transport.ts';
import { readSnapshot } from './read-job.ts';
import { Repository } from './repository.ts';
import type { SnapshotFilter } from './snapshot-reader.ts';

/** Characters of files that a child keeps between jobs: some 40,000 manifests. */
const KEPT_TEXT = 32 * 1024 * 1024;
/** About how long the text of a message is: short enough to be parsed within a few milliseconds. */
const PART_LENGTH = 256 * 1024;

/** What the child does with what it reads; see {@link runGitChild}. */
export interface GitChildHandlers {
  /** Which files are read at all. */
  readonly filter: SnapshotFilter;
  /** Answers plain JSON (bigint allowed). Its array fields travel in parts, so long lists belong at the top. */
  readonly parse: (snapshot: Snapshot, options: unknown) => object;
}

/** Serves the jobs of the parent's `GitProcess` until that ends this process. The only call of a child's script. */
export function runGitChild(handlers: GitChildHandlers): void {
  const child = new GitChild(handlers);
  process.on('message', (message: JobMessage) => void child.serve(message));
  process.on('disconnect', leave);
}

/** The parent has died, and cannot remove the clones any more. */
function leave(): never {
  const [, , directory] = process.argv;
  try {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  } finally {
    process.exit();
  }
}

class GitChild {
  readonly #handlers: GitChildHandlers;
  readonly #cache = new BlobCache(KEPT_TEXT);

  constructor(handlers: GitChildHandlers) {
    this.#handlers = handlers;
  }

  async serve({ id, job }: JobMessage): Promise<void> {
    const deadline = new AbortController();
    const cancel = systemClock.after(job.timeout, () => deadline.abort());
    const transport = new HttpTransport({ ...job, signal: deadline.signal });
    try {
      const run = { id, transport, signal: deadline.signal };
      await (job.operation === 'poll' ? poll(job, run) : this.#read(job, run));
    } catch (error) {
      await send({ type: 'error', id, error: sentError(error, deadline.signal) });
    } finally {
      cancel();
      transport.close();
    }
  }

  async #read(job: ReadJob, { id, transport, signal }: Run): Promise<void> {
    const { filter, parse } = this.#handlers;
    const texts = this.#cache.of(job.directory);
    const { oid, snapshot } = await readSnapshot(job, { transport, filter, texts, signal });
    const rest: Record<string, unknown> = {};
    for (const [field, value] of Object.entries(parse(snapshot, job.parseOptions))) {
      rest[field] = Array.isArray(value) ? [] : value;
      if (Array.isArray(value)) await sendItems(id, field, value);
    }
    const { revision } = snapshot;
    await send({
      type: 'result',
      id,
      text: formatExact({ oid, revision, content: rest, received: transport.received }),
    });
  }
}

interface Run {
  readonly id: number;
  readonly transport: HttpTransport;
  readonly signal: AbortSignal;
}

async function poll(job: GitJob, { id, transport }: Run): Promise<void> {
  const oid = await new Repository({ ...job, directory: '', transport }).poll();
  await send({ type: 'result', id, text: formatExact({ oid, received: transport.received }) });
}

async function sendItems(id: number, field: string, items: readonly unknown[]): Promise<void> {
  let texts: string[] = [];
  let length = 0;
  for (const [index, item] of items.entries()) {
    const text = formatExact(item);
    texts.push(text);
    length += text.length;
    if (length < PART_LENGTH && index < items.length - 1) continue;
    await send({ type: 'part', id, field, text: `[${texts.join(',')}]` });
    texts = [];
    length = 0;
  }
}

/** Resolves when the message has left; a parent that is gone ends this process by {@link leave}. */
function send(message: ChildMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (process.send === undefined) return Promise.resolve();
  process.send(message, undefined, undefined, () => resolve());
  return promise;
}

function sentError(error: unknown, signal: AbortSignal): SentError {
  if (signal.aborted) return { reason: 'Timeout', message: 'the repository was not read in time' };
  if (error instanceof GitError) {
    const { reason, message, retryAfterSeconds } = error;
    return { reason, message, retryAfterSeconds };
  }
  return { reason: 'InternalError', message: `reading failed: ${placeOf(error)}` };
}

/** What an unknown error is and where it happened; its message may repeat what was read. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'not an error';
  const frame = error.stack?.split('\n').find((line) => line.startsWith('    at ')) ?? '';
  return `${error.name} at ${frame.replace(/^.*[ (/]|\)$/g, '')}`;
}
