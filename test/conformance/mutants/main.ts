/**
 * Tries every mutant in a copy of the project, and demands that its test fails by it:
 *
 *   npm run mutants                     all of them
 *   npm run mutants -- --only reflector only those whose file, name or test has this text in it
 *
 * Ends with 1 when one survives. A mutant whose test needs an API server uses the lab that ATOLL_TEST_LAB names, or one of
 * its own.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { mutants } from './index.ts';
import { MutantRunner } from './mutant-runner.ts';

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
  const wanted = mutants.filter(({ file, name, test }) =>
    [file, name, test].some((text) => text.includes(values.only)),
  );
  const runner = await MutantRunner.open();
  try {
    const failing = await runner.failingWithout(wanted);
    for (const { test, problem } of failing) console.error(`fails without any mutant: ${test}\n    ${problem}`);
    if (failing.length > 0) return 1;
    let survivors = 0;
    for (const mutant of wanted) {
      const outcome = await runner.tryOut(mutant);
      if (outcome !== 'caught') survivors += 1;
      console.log(`${outcome.padEnd(8)}  ${mutant.file.padEnd(40)}  ${mutant.name}\n${' '.repeat(10)}${mutant.test}`);
    }
    console.log(`${wanted.length - survivors} of ${wanted.length} mutants caught`);
    return survivors === 0 ? 0 : 1;
  } finally {
    await runner.close();
  }
}

process.exitCode = await main();
