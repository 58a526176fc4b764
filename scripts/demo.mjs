/**
 * Brings everything that the demo needs, builds Atoll and plays `demo/main.ts`; arguments are handed on.
 * Ctrl-C ends it and all that it started.
 */

import { runInForeground, runToEnd } from './setup/command.mjs';
import { projectFolder, setUp } from './setup/index.mjs';
import { runMain, SetupError, step } from './setup/report.mjs';

await runMain(async () => {
  const { node, environment } = await setUp({ lab: true });
  const options = { cwd: projectFolder, env: environment };
  await step('Building Atoll', async () => {
    const { code, lines } = await runToEnd('npm', ['run', '--silent', 'build'], options);
    if (code !== 0) throw new SetupError(`Atoll does not build:\n${lines.join('\n')}`);
  });
  return runInForeground(node, ['demo/main.ts', ...process.argv.slice(2)], options);
});
