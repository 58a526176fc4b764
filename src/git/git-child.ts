import type { Snapshot } from '../kernel/index.ts';

/** What the child does with what it read. */
export interface GitChildHandlers {
  /** Answers plain JSON (bigint allowed); its array fields travel in batches, so long lists belong at the top. */
  parse(snapshot: Snapshot, options: unknown): object;
}

/** Serves the jobs of the parent's {@link GitProcess} until it disconnects. The only call of a child's script. */
export function runGitChild(handlers: GitChildHandlers): void {
  process.once('message', () => process.send?.({ type: 'unsupported', handlers: Object.keys(handlers) }));
}
