/**
 * A process that reads a repository and then stays, for tests that kill it: answers a {@link GitReadingRequest} with "read".
 *
 * @module
 */
import { GitProcess, type ReadRequest } from '../../src/git/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';

/** What to read, and where the clones lie. */
export interface GitReadingRequest {
  readonly directory: string;
  readonly request: ReadRequest;
}

process.once('message', ({ directory, request }: GitReadingRequest) => {
  const childScript = new URL('./misbehaving-git-child.ts', import.meta.url);
  const options = { childScript, directory, allowLoopback: true };
  const git = new GitProcess({ ...options, clock: systemClock, logger: silentLogger, metrics: noMetrics });
  void git.read(request).then(() => process.send?.('read'));
});
