/**
 * The set-up that `npm run demo`, `npm test` and `scripts/run.mjs` share. It runs on the machine's own Node (20 or
 * newer) before anything is installed, uses what is there, brings what is missing, and is quick when nothing is.
 * What it cannot bring, it names together with how to get it.
 */

import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from './command.mjs';
import { ensureControlPlane, givenPrograms } from './control-plane.mjs';
import { ensureDebianProgram } from './debian.mjs';
import { ensureDependencies } from './dependencies.mjs';
import { ensureKwok } from './kwok.mjs';
import { ensureNode } from './node.mjs';
import { ensureRedis } from './redis.mjs';
import { SetupError } from './report.mjs';

export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Prepares the machine and returns the Node to run the project with and the environment to run it in. With `lab`, that
 * names in `ATOLL_LAB_PROGRAMS` everything that test/lab runs.
 */
export async function setUp({ lab }) {
  const node = await ensureNode();
  await ensureDependencies(projectFolder);
  const path = [dirname(node), join(projectFolder, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  const environment = { ...process.env, PATH: path };
  if (lab) environment.ATOLL_LAB_PROGRAMS = JSON.stringify(await labPrograms());
  return { node, environment };
}

async function labPrograms() {
  const git = await ensureDebianProgram('git', 'git', { purpose: 'to serve repositories in the lab' });
  await ensureDebianProgram('setpriv', 'util-linux', { purpose: 'so that the lab leaves no process behind' });
  const redis = await ensureRedis();
  const programs = { git, ...(redis !== undefined && { 'redis-server': redis }) };
  if (process.env.ATOLL_LAB_KUBECONFIGS) return { ...programs, kubectl: await existingKubectl() };
  const { kubectl, ...controlPlane } = await ensureControlPlane(projectFolder);
  return { ...programs, kubectl, controlPlane: { ...controlPlane, ...(await ensureKwok()) } };
}

async function existingKubectl() {
  const { kubectl } = await givenPrograms(process.env.KUBEBUILDER_ASSETS);
  const found = kubectl ?? (await findProgram('kubectl'));
  if (found === undefined) {
    throw new SetupError(
      'kubectl is needed beside ATOLL_LAB_KUBECONFIGS: put it on the PATH or into KUBEBUILDER_ASSETS.',
    );
  }
  return found;
}
