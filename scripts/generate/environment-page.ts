import { describeEnvironment } from '../../src/config/index.ts';
import type { Generator } from './generator.ts';
import { page, table } from './markdown.ts';

const FILE = 'docs/reference/environment.md';
const INTRODUCTION =
  'What a replica reads from its environment, once, at its start. A bad value ends it with the name of the variable. ' +
  'Durations are a number with `ms`, `s`, `m` or `h`.';

/** The page of environment variables. */
export const environmentPage: Generator = {
  owns: [FILE],
  files: () => new Map([[FILE, page('Environment variables', INTRODUCTION, [variables()])]]),
};

function variables(): string {
  const rows = describeEnvironment().map(({ name, fallback, meaning }) => [`\`${name}\``, fallback, meaning]);
  return table(['Variable', 'Default', 'Meaning'], rows);
}
