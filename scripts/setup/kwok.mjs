// KWOK: simulated nodes whose pods and volumes come to life by published rules, the stages.

import { mkdir, readdir, copyFile, chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { cached } from './cache.mjs';
import { countingLines, go, goEnvironment, requireGo } from './go.mjs';
import { step } from './report.mjs';

const version = 'v0.8.0';
const stages = ['pod/fast', 'node/fast', 'node/heartbeat-with-lease', 'volume/fast'];
/** Beside the stages lie files for kustomize, and a storage class that the lab creates itself. */
const notStages = new Set(['kustomization.yaml', 'storage-class.yaml']);

/** The paths of the program and of the folder with its stages. */
export async function ensureKwok() {
  const folder = await cached(`kwok-${version}`, async (temporary) => {
    await requireGo('to build KWOK, which simulates nodes and pods in the lab', '');
    const title = `Building KWOK ${version}, which simulates nodes and pods: once, some 2 minutes on two cores`;
    await step(title, async (achieved) => {
      await go(['install', '-v', `sigs.k8s.io/kwok/cmd/kwok@${version}`], {
        cwd: temporary,
        env: { ...goEnvironment, GOBIN: temporary },
        onLine: countingLines(achieved),
      });
      await copyStages(temporary);
    });
  });
  return { kwok: join(folder, 'kwok'), kwokStages: join(folder, 'stages') };
}

async function copyStages(folder) {
  const answer = await go(['mod', 'download', '-json', `sigs.k8s.io/kwok@${version}`], { cwd: folder });
  const source = join(JSON.parse(answer).Dir, 'kustomize', 'stage');
  const target = join(folder, 'stages');
  await mkdir(target);
  for (const stage of stages) {
    const files = await readdir(join(source, stage));
    for (const file of files.filter((name) => name.endsWith('.yaml') && !notStages.has(name))) {
      await copyFile(join(source, stage, file), join(target, file));
      // The module cache is read-only, and copies would be as well.
      await chmod(join(target, file), 0o644);
    }
  }
}
