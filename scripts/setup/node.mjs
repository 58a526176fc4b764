// Atoll runs on Node 24. Where the machine's own Node is older, one comes from npm, for this project only.

import { join } from 'node:path';
import { cached } from './cache.mjs';
import { capture, findProgram } from './command.mjs';
import { SetupError, step } from './report.mjs';

const wantedMajor = 24;
const broughtVersion = '24.22.3';

/** The path of a Node that can run the project. */
export async function ensureNode() {
  if (Number.parseInt(process.versions.node, 10) >= wantedMajor) return process.execPath;
  const packageName = `node-linux-${process.arch}`;
  if (process.platform !== 'linux') {
    throw new SetupError(
      `Node ${wantedMajor} is needed and this is ${process.version}: install it, for example with nvm.`,
    );
  }
  await requireNpm();
  const folder = await cached(`node-${broughtVersion}`, async (temporary) => {
    const title = `Getting Node ${broughtVersion} from npm, as this machine has ${process.version} (some seconds, 120 MB)`;
    await step(title, async () =>
      capture('npm', [
        'install',
        `--prefix=${temporary}`,
        '--no-save',
        '--no-audit',
        '--no-fund',
        '--ignore-scripts',
        '--loglevel=error',
        `${packageName}@${broughtVersion}`,
      ]),
    );
  });
  return join(folder, 'node_modules', packageName, 'bin', 'node');
}

export async function requireNpm() {
  if ((await findProgram('npm')) === undefined) {
    throw new SetupError('npm is needed and not on the PATH: install it (on Debian: apt-get install npm).');
  }
}
