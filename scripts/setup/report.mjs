// What the set-up prints: one line per step, and a sign of life while a step takes long.

/** Something that a person must do before this can work. Printed without a stack. */
export class SetupError extends Error {}

const signOfLifeInterval = 10_000;

/**
 * Runs one step. Its title is printed only once it turns out to take a while, so that a warm start stays quiet.
 * `action` receives a function to call with what has been achieved so far.
 */
export async function step(title, action, { quietFor = 1_000 } = {}) {
  const started = performance.now();
  let state = '';
  let announced = false;
  const announce = () => {
    announced = true;
    print(title);
  };
  const announcing = setTimeout(announce, quietFor);
  const ticking = setInterval(() => {
    print(`  … ${[state, duration(performance.now() - started)].filter(Boolean).join(', ')}`);
  }, signOfLifeInterval);
  try {
    const result = await action((newState) => {
      state = newState;
    });
    if (announced) print(`  done in ${duration(performance.now() - started)}`);
    return result;
  } catch (error) {
    if (!announced) announce();
    throw error;
  } finally {
    clearTimeout(announcing);
    clearInterval(ticking);
  }
}

/** Runs a program's main function: a SetupError ends it with its message, anything else with its stack. */
export async function runMain(main) {
  endWithNpm();
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error instanceof SetupError ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}

/** npm, told to end, ends the shell between itself and its script, and the script would go on alone. */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
}

export function print(line) {
  console.log(line);
}

export function duration(milliseconds) {
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
