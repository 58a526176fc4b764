/**
 * Runs a TypeScript file of the project with Node 24, bringing that and the dependencies where they are missing:
 *
 *   node scripts/run.mjs [--lab] <file.ts> [arguments …]
 *
 * With --lab, also what test/lab needs: Redis, a control plane, simulated nodes.
 */

import { runInForeground } from './setup/command.mjs';
import { projectFolder, setUp } from './setup/index.mjs';
import { runMain, SetupError } from './setup/report.mjs';

await runMain(async () => {
  const args = process.argv.slice(2);
  const lab = args[0] === '--lab';
  const [file, ...rest] = lab ? args.slice(1) : args;
  if (file === undefined) throw new SetupError('usage: node scripts/run.mjs [--lab] <file.ts> [arguments …]');
  const { node, environment } = await setUp({ lab });
  return runInForeground(node, [file, ...rest], { cwd: projectFolder, env: environment });
});
