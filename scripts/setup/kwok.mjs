// KWOK: simulated nodes whose pods and volumes come to life by published rules, the stages.

import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cached } from './cache.mjs';
import { capture } from './command.mjs';
import { countingLines, go, goEnvironment, requireGo } from './go.mjs';
import { step } from './report.mjs';

const version = 'v0.8.0';
const stages = ['pod/fast', 'node/fast', 'node/heartbeat-with-lease', 'volume/fast'];
/** Beside the stages lie files for kustomize, and a storage class that the lab creates itself. */
const notStages = new Set(['kustomization.yaml', 'storage-class.yaml']);
/** Of KWOK's own kinds those that say what `kubectl exec`, `logs` and `port-forward` meet in a simulated pod. */
const definitions = ['execs', 'clusterexecs', 'logs', 'clusterlogs', 'portforwards', 'clusterportforwards'];

/** What is corrected as it is built, and why, stands in the file. */
const corrections = fileURLToPath(new URL('kwok.patch', import.meta.url));

/** The paths of the program, of the folder with its stages, and of the one with the definitions of its kinds. */
export async function ensureKwok() {
  const digest = createHash('sha256')
    .update(await readFile(corrections))
    .digest('hex');
  const folder = await cached(`kwok-${version}-${digest.slice(0, 12)}`, async (temporary) => {
    await requireGo('to build KWOK, which simulates nodes and pods in the lab', '');
    const title = `Building KWOK ${version}, which simulates nodes and pods: once, some 2 minutes on two cores`;
    await step(title, async (achieved) => {
      const published = JSON.parse(
        await go(['mod', 'download', '-json', `sigs.k8s.io/kwok@${version}`], { cwd: temporary }),
      );
      const source = join(temporary, 'source');
      await copyTree(published.Dir, source);
      await capture('git', ['apply', corrections], {
        cwd: source,
        env: { ...process.env, GIT_CEILING_DIRECTORIES: temporary },
      });
      await go(['install', '-v', './cmd/kwok'], {
        cwd: source,
        env: { ...goEnvironment, GOBIN: temporary, GOFLAGS: '-buildvcs=false' },
        onLine: countingLines(achieved),
      });
      await copyStages(source, join(temporary, 'stages'));
      await copyDefinitions(source, join(temporary, 'definitions'));
      await rm(source, { recursive: true });
    });
  });
  return {
    kwok: join(folder, 'kwok'),
    kwokStages: join(folder, 'stages'),
    kwokDefinitions: join(folder, 'definitions'),
  };
}

async function copyStages(source, target) {
  await mkdir(target);
  for (const stage of stages) {
    const folder = join(source, 'kustomize', 'stage', stage);
    const files = await readdir(folder);
    for (const file of files.filter((name) => name.endsWith('.yaml') && !notStages.has(name))) {
      await copyFile(join(folder, file), join(target, file));
    }
  }
}

async function copyDefinitions(source, target) {
  await mkdir(target);
  for (const plural of definitions) {
    const file = `kwok.x-k8s.io_${plural}.yaml`;
    await copyFile(join(source, 'kustomize', 'crd', 'bases', file), join(target, file));
  }
}

/** The module cache is read-only, and copies would be as well. */
async function copyTree(from, to) {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyTree(source, target);
    else await copyFile(source, target);
    await chmod(target, entry.isDirectory() ? 0o755 : 0o644);
  }
}
