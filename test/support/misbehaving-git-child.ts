/**
 * A child for tests of `GitProcess`: reads like Atoll's own, then does with itself what the parse options say.
 *
 * @module
 */
import { runGitChild } from '../../src/git/index.ts';

/** What the child does when it should parse. */
export interface Misbehaviour {
  readonly how: 'hang' | 'heap' | 'buffers' | 'exit' | 'nothing';
}

runGitChild({
  filter: { folder: () => true, file: () => true },
  parse: (snapshot, options) => {
    misbehave((options as Misbehaviour).how);
    return { paths: snapshot.files.map(({ path }) => path) };
  },
});

function misbehave(how: Misbehaviour['how']): void {
  const kept: unknown[] = [];
  switch (how) {
    case 'exit':
      return process.exit(7);
    case 'hang':
      for (;;) kept.length = 0;
    case 'heap':
      for (;;) kept.push(Array.from({ length: 100_000 }, Math.random));
    case 'buffers':
      // Some GiB in all, should nobody end it.
      while (kept.length < 1000) kept.push(Buffer.alloc(4 * 1024 * 1024, 1));
      return;
    case 'nothing':
  }
}
