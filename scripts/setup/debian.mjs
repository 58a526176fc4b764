// Programs that Debian and its relatives package.

import { capture, findProgram } from './command.mjs';
import { SetupError, step } from './report.mjs';

const noPrompts = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };

/** The path of a program, which is installed from its Debian package when it is missing. */
export async function ensureDebianProgram(program, debianPackage, { purpose, afterInstall }) {
  const found = await findProgram(program);
  if (found !== undefined) return found;
  const advice = `${program} is needed ${purpose} and not on the PATH: install it (on Debian: apt-get install ${debianPackage}).`;
  const asRoot = await rootPrefix();
  if ((await findProgram('apt-get')) === undefined || asRoot === undefined) throw new SetupError(advice);
  await step(`Installing ${debianPackage} with apt-get, ${purpose} (some seconds)`, async (achieved) => {
    const onLine = (line) => achieved(line.trim());
    await asRoot(['apt-get', 'update'], { onLine });
    await asRoot(['apt-get', 'install', '--yes', '--no-install-recommends', debianPackage], { onLine });
    await afterInstall?.(asRoot);
  });
  const installed = await findProgram(program);
  if (installed === undefined) throw new SetupError(advice);
  return installed;
}

/** A function that runs a command as root, or undefined when this user cannot without being asked. */
async function rootPrefix() {
  const run = (command) => async (args, options) =>
    capture([...command, ...args][0], [...command, ...args].slice(1), { env: noPrompts, ...options });
  if (process.getuid?.() === 0) return run([]);
  if ((await findProgram('sudo')) === undefined) return undefined;
  try {
    await capture('sudo', ['-n', 'true']);
    return run(['sudo', '-n']);
  } catch {
    return undefined;
  }
}
