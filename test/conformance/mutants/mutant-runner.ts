import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVitest } from 'vitest/node';
import type { TestModule, TestSpecification, Vitest } from 'vitest/node';
import { testTitles } from '../test-titles.ts';
import type { TestTitle } from '../test-titles.ts';
import type { Mutant } from './mutant.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const COPIED = ['src', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
const TESTS = 'test/conformance';

/**
 * `caught`: the named test failed, and by an assertion. `survived`: it passed. `broken`: something else failed, a module
 * that cannot be loaded for instance, which proves nothing.
 */
export type Outcome = 'caught' | 'survived' | 'broken';

/** A test that fails though nothing is wrong. */
export interface Failing {
  readonly test: string;
  readonly problem: string;
}

/** Whether the test of one of these needs a real API server. */
export async function needServer(mutants: readonly Mutant[]): Promise<boolean> {
  const titles = await testTitles(join(PROJECT, TESTS));
  return mutants.some(({ test }) => titles.some(({ file, title }) => isOnServer(file) && title.startsWith(test)));
}

/** Runs single tests of a copy of the project, changed or not. */
export class MutantRunner {
  readonly #folder: string;
  readonly #vitest: Vitest;
  readonly #titles: readonly TestTitle[];

  private constructor(folder: string, vitest: Vitest, titles: readonly TestTitle[]) {
    this.#folder = folder;
    this.#vitest = vitest;
    this.#titles = titles;
  }

  static async open(): Promise<MutantRunner> {
    const folder = await mkdtemp(join(tmpdir(), 'atoll-mutants-'));
    await Promise.all(COPIED.map((name) => cp(join(PROJECT, name), join(folder, name), { recursive: true })));
    await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
    const vitest = await createVitest('test', { root: folder, watch: false, reporters: [{}] });
    await vitest.standalone();
    return new MutantRunner(folder, vitest, await testTitles(join(folder, TESTS)));
  }

  /** Which of the mutants' tests fail, or are not there, while nothing is changed. */
  async failingWithout(mutants: readonly Mutant[]): Promise<readonly Failing[]> {
    const failing: Failing[] = [];
    const files = Map.groupBy(new Set(mutants.map(({ test }) => test)), (test) => this.#fileOf(test));
    for (const [file, tests] of files) {
      const modules = await this.#run(file, tests);
      const problems = modules.flatMap(problemsOf);
      if (problems.length > 0) failing.push({ test: tests.join(', '), problem: problems.join('\n    ') });
    }
    return failing;
  }

  /** Puts a mutant in, runs its test, and takes it out again. */
  async tryOut(mutant: Mutant): Promise<Outcome> {
    const path = join(this.#folder, mutant.file);
    const original = await readFile(path, 'utf8');
    await this.#write(path, changed(original, mutant));
    try {
      return outcomeOf(await this.#run(this.#fileOf(mutant.test), [mutant.test]));
    } finally {
      await this.#write(path, original);
    }
  }

  async close(): Promise<void> {
    await this.#vitest.close();
    await rm(this.#folder, { recursive: true });
  }

  #fileOf(test: string): string {
    const found = this.#titles.find(({ title }) => title.startsWith(test));
    if (found) return found.file;
    throw new Error(`no test has a title that begins with ${JSON.stringify(test)}`);
  }

  async #write(path: string, text: string): Promise<void> {
    await writeFile(path, text);
    this.#vitest.invalidateFile(path);
  }

  async #run(file: string, tests: readonly string[]): Promise<readonly TestModule[]> {
    const { testModules, unhandledErrors } = await this.#vitest.runTestSpecifications([this.#specify(file, tests)]);
    if (unhandledErrors.length > 0) throw new Error(`${file}: errors outside of tests`, { cause: unhandledErrors[0] });
    return testModules;
  }

  #specify(file: string, tests: readonly string[]): TestSpecification {
    const project = this.#vitest.getProjectByName(isOnServer(file) ? 'component' : 'unit');
    const testNamePattern = new RegExp(`(^| )(${tests.map((test) => RegExp.escape(test)).join('|')})`);
    return project.createSpecification(join(this.#folder, TESTS, file), { testNamePattern });
  }
}

function isOnServer(file: string): boolean {
  return file.endsWith('.real.test.ts');
}

function changed(text: string, { file, search, replacement }: Mutant): string {
  const parts = text.split(search);
  if (parts.length === 2) return parts.join(replacement);
  throw new Error(`${file}: ${JSON.stringify(search)} is there ${parts.length - 1} times`);
}

function outcomeOf(modules: readonly TestModule[]): Outcome {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  if (modules.some((module) => module.errors().length > 0)) return 'broken';
  const errors = tests.flatMap((test) => test.result().errors ?? []);
  if (errors.length === 0) return 'survived';
  return errors.some(({ name }) => name === 'AssertionError') ? 'caught' : 'broken';
}

/** What is wrong with a module all of whose selected tests should pass. */
function problemsOf(module: TestModule): string[] {
  const tests = [...module.children.allTests()];
  const errors = [...module.errors(), ...tests.flatMap((test) => test.result().errors ?? [])];
  const ran = tests.filter((test) => test.result().state === 'passed').length;
  return [...errors.map(({ message }) => message), ...(ran === 0 ? ['no test ran'] : [])];
}
