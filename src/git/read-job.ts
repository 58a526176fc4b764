import type { Snapshot } from '../kernel/index.ts';
import type { BlobTexts } from './blob-cache.ts';
import { GitError } from './git-error.ts';
import type { ReadJob } from './git-job.ts';
import { Repository } from './repository.ts';
import type { HttpTransport } from './http-transport.ts';
import { SnapshotReader, type SnapshotFilter } from './snapshot-reader.ts';

/** How often a branch may move while it is read. */
const MOVES = 3;

/** What a read works with. */
export interface ReadContext {
  readonly transport: HttpTransport;
  readonly filter: SnapshotFilter;
  readonly texts: BlobTexts;
  readonly signal: AbortSignal;
}

/** Reads a branch. A clone that turns out damaged is thrown away, and the branch is cloned afresh, once. */
export async function readSnapshot(job: ReadJob, context: ReadContext): Promise<{ oid: string; snapshot: Snapshot }> {
  const repository = new Repository({ ...job, transport: context.transport });
  await repository.claim();
  try {
    return await readOnce(repository, job, context);
  } catch (error) {
    if (!isDamage(error)) throw error;
    await repository.remove();
    await repository.claim();
    return await readOnce(repository, job, context);
  } finally {
    await repository.release();
  }
}

async function readOnce(
  repository: Repository,
  job: ReadJob,
  { filter, texts, signal }: ReadContext,
): Promise<{ oid: string; snapshot: Snapshot }> {
  const oid = await pin(repository, job.expectedOid);
  const reader = new SnapshotReader({ repository, filter, limits: job.limits, texts, signal });
  return { oid, snapshot: await reader.read({ oid, branch: job.branch, path: job.path }) };
}

/** The one commit that this read is about, brought here. */
async function pin(repository: Repository, polled: string | undefined): Promise<string> {
  let expected = polled ?? (await repository.poll());
  for (let move = 0; move < MOVES; move += 1) {
    if (await repository.has(expected)) return expected;
    const brought = await repository.fetch();
    if (brought === expected) return brought;
    // The branch has moved since it was polled; what was brought counts if a second look agrees.
    expected = await repository.poll();
    if (brought === expected) return brought;
  }
  throw new GitError('Unreachable', 'the branch moves faster than it can be read');
}

function isDamage(error: unknown): boolean {
  return error instanceof GitError && error.reason === 'Corrupt';
}
