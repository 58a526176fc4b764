/**
 * Writes everything that is made from the code; with --check, only names what is not up to date and exits 1.
 *
 *   node scripts/run.mjs scripts/generate.ts [--check]
 */
import path from 'node:path';

import { crdManifests } from './generate/crd-manifests.ts';
import { environmentPage } from './generate/environment-page.ts';
import { findStaleFiles, refresh } from './generate/generated-files.ts';
import type { Generator } from './generate/generator.ts';
import { referencePages } from './generate/reference-pages.ts';
import { rightsPage } from './generate/rights-page.ts';
import { roleManifests } from './generate/role-manifests.ts';

const generators: readonly Generator[] = [crdManifests, roleManifests, referencePages, environmentPage, rightsPage];

const root = path.resolve(import.meta.dirname, '..');
const stale = await findStaleFiles(root, generators);

if (process.argv.includes('--check')) {
  for (const file of stale) console.error(`not up to date: ${file.path}`);
  if (stale.length > 0) console.error('run "npm run generate" and commit the result');
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  await refresh(root, stale);
  for (const file of stale) console.log(`${file.content === undefined ? 'removed' : 'wrote'} ${file.path}`);
}
