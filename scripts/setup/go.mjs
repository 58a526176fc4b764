// The Go toolchain, which builds the parts of the lab that nobody publishes as a package.

import { capture, findProgram } from './command.mjs';
import { SetupError } from './report.mjs';

/** Go below this cannot fetch by itself the newer toolchain that a module asks for. */
const oldest = [1, 21];

export async function requireGo(purpose, alternative) {
  const advice = `Go ${oldest.join('.')} or newer is needed ${purpose}: install it from https://go.dev/dl (on Debian: apt-get install golang-go, where that is new enough)${alternative}.`;
  if ((await findProgram('go')) === undefined) throw new SetupError(`${advice} There is no go on the PATH.`);
  const version = (await capture('go', ['env', 'GOVERSION'], { env: goEnvironment })).trim();
  const [major = 0, minor = 0] = version.replace(/^\D*/, '').split('.').map(Number);
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))
    throw new SetupError(`${advice} This is ${version}.`);
}

/** Plain binaries that need no C compiler; everything else is as the machine has it. */
export const goEnvironment = { ...process.env, CGO_ENABLED: '0' };

/** Runs go at low priority: a build of many minutes shall not make the machine unusable. */
export async function go(args, options = {}) {
  return capture('nice', ['-n', '10', 'go', ...args], { env: goEnvironment, ...options });
}

/**
 * Counts what go says while it works: modules that it downloads and, with `-v`, packages that it compiles (what its
 * cache holds is not mentioned).
 */
export function countingLines(achieved, totalPackages) {
  let downloads = 0;
  let packages = 0;
  return (line) => {
    if (line.startsWith('go: downloading')) downloads += 1;
    else if (/^[\w.-]+(\/[\w.-]+)*$/.test(line)) packages += 1;
    if (packages === 0) achieved(`${downloads} modules downloaded`);
    else achieved(`${packages} ${totalPackages === undefined ? '' : `of at most ${totalPackages} `}packages compiled`);
  };
}
