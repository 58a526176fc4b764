/**
 * Everything that must hold before a change lands, after bringing whatever that needs:
 *
 *   npm test                      the static checks, then every test
 *   npm test -- <vitest's arguments>   only the tests that these select
 *   npm run verify                only the static checks
 *
 * All steps run even when one fails; the last line counts what passed and what failed, steps and tests together.
 */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInForeground, runToEnd } from './setup/command.mjs';
import { projectFolder, setUp } from './setup/index.mjs';
import { duration, print, runMain } from './setup/report.mjs';

/** Scripts of package.json. */
const checks = ['lint', 'types', 'boundaries', 'deadcode', 'generate:check', 'build'];

await runMain(async () => {
  const args = process.argv.slice(2);
  const onlyChecks = args.includes('--static');
  const { environment } = await setUp({ lab: !onlyChecks && needsLab(args) });
  const options = { cwd: projectFolder, env: environment };

  const failedChecks = onlyChecks || args.length === 0 ? await runChecks(options) : [];
  const ranChecks = onlyChecks || args.length === 0 ? checks.length : 0;
  const tests = onlyChecks ? { passed: 0, failed: 0, skipped: 0 } : await runTests(args, options);

  if (failedChecks.length > 0) print(`\nChecks that failed: ${failedChecks.join(', ')}`);
  const passed = ranChecks - failedChecks.length + tests.passed;
  const failed = failedChecks.length + tests.failed;
  print(`\n${passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''}`);
  return failed === 0 ? 0 : 1;
});

/** Unit tests need nothing but Node, and a lab that runs already (ATOLL_TEST_LAB) needs nothing either. */
function needsLab(args) {
  if (process.env.ATOLL_TEST_LAB) return false;
  const projects = args.flatMap((argument, index) => {
    if (argument === '--project') return [args[index + 1]];
    return argument.startsWith('--project=') ? [argument.slice('--project='.length)] : [];
  });
  return projects.length === 0 || projects.some((project) => project !== 'unit');
}

async function runChecks(options) {
  const failed = [];
  for (const check of checks) {
    const started = performance.now();
    const { code, lines } = await runToEnd('npm', ['run', '--silent', check], options);
    print(`${code === 0 ? '✓' : '✗'} ${check} (${duration(performance.now() - started)})`);
    if (code === 0) continue;
    failed.push(check);
    print(lines.map((line) => `    ${line}`).join('\n'));
  }
  return failed;
}

async function runTests(args, options) {
  const folder = await mkdtemp(join(tmpdir(), 'atoll-test-'));
  const report = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const code = await runInForeground('vitest', ['run', ...reporters, ...args], options);
    return await readCounts(report, code);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A run that failed otherwise than by a failed test (a file that does not load, an unhandled error) is one failure. */
async function readCounts(report, code) {
  const counts = await readFile(report, 'utf8').then(
    (text) => JSON.parse(text),
    (error) => {
      if (error.code === 'ENOENT') return {};
      throw error;
    },
  );
  const failed = counts.numFailedTests ?? 0;
  return {
    passed: counts.numPassedTests ?? 0,
    failed: code !== 0 && failed === 0 ? 1 : failed,
    skipped: (counts.numPendingTests ?? 0) + (counts.numTodoTests ?? 0),
  };
}
