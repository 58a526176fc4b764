// node_modules, as package-lock.json has it.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { capture } from './command.mjs';
import { requireNpm } from './node.mjs';
import { step } from './report.mjs';

/** Installs the project's dependencies unless what is installed is what the lock file says. */
export async function ensureDependencies(projectFolder) {
  if (await isInstalled(projectFolder)) return;
  await requireNpm();
  await step("Installing the project's npm dependencies (about half a minute)", async () =>
    capture('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: projectFolder }),
  );
}

/** npm notes what it installed in a lock file of its own inside node_modules. */
async function isInstalled(projectFolder) {
  const wanted = await readPackages(join(projectFolder, 'package-lock.json'));
  const installed = await readPackages(join(projectFolder, 'node_modules', '.package-lock.json')).catch((error) => {
    if (error.code === 'ENOENT') return {};
    throw error;
  });
  return Object.entries(wanted).every(([path, entry]) => {
    // The root is the project itself; packages for other platforms are optional and stay away.
    if (path === '' || (entry.optional && installed[path] === undefined)) return true;
    return installed[path]?.version === entry.version && installed[path]?.integrity === entry.integrity;
  });
}

async function readPackages(path) {
  return JSON.parse(await readFile(path, 'utf8')).packages;
}
