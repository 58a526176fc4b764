/**
 * Tries every mutant in a copy of the project, and demands that its test fails by it:
 *
 *   npm run mutants                       all of them
 *   npm run mutants -- --only reflector   only those whose file, name or test has this text in it
 *
 * Ends with 1 when one survives. Where a test needs an API server, the lab that ATOLL_TEST_LAB names is used, or one of
 * its own is started.
 *
 * @module
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startLab } from '../../lab/index.ts';
import type { Lab } from '../../lab/index.ts';
import { mutants } from './index.ts';
import type { Mutant } from './index.ts';
import { MutantRunner, needServer } from './mutant-runner.ts';

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
  const wanted = mutants.filter(({ file, name, test }) =>
    [file, name, test].some((text) => text.includes(values.only)),
  );
  if (wanted.length === 0) {
    console.error(`no mutant has ${JSON.stringify(values.only)} in its file, name or test`);
    return 2;
  }
  const lab = (await needServer(wanted)) ? await openLab() : undefined;
  try {
    return await tryAll(wanted);
  } finally {
    await lab?.stop();
  }
}

/** The copied tests find it as every test does: by the variable. */
async function openLab(): Promise<Lab | undefined> {
  if (process.env['ATOLL_TEST_LAB'] !== undefined) return undefined;
  const progress = (line: string): void => console.log(`lab: ${line}`);
  const lab = await startLab({ members: ['eu-1'], audit: false, workloads: false, progress });
  process.env['ATOLL_TEST_LAB'] = join(lab.directory, 'description.json');
  return lab;
}

async function tryAll(wanted: readonly Mutant[]): Promise<number> {
  const runner = await MutantRunner.open();
  try {
    const failing = await runner.failingWithout(wanted);
    for (const { test, problem } of failing) console.error(`fails without any mutant: ${test}\n    ${problem}`);
    if (failing.length > 0) return 1;
    let caught = 0;
    for (const mutant of wanted) {
      const outcome = await runner.tryOut(mutant);
      if (outcome === 'caught') caught += 1;
      console.log(`${outcome.padEnd(8)}  ${mutant.file.padEnd(40)}  ${mutant.name}\n${' '.repeat(10)}${mutant.test}`);
    }
    console.log(`${caught} of ${wanted.length} mutants caught`);
    return caught === wanted.length ? 0 : 1;
  } finally {
    await runner.close();
  }
}

process.exitCode = await main();
