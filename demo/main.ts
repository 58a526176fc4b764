import { once } from 'node:events';
import { Fleet } from '../test/installation/index.ts';
import { startLab } from '../test/lab/index.ts';
import { Narrator } from './narrator.ts';
import { SESSIONS } from './repository.ts';
import { MEMBERS, Story } from './story.ts';

/**
 * The demo: a lab of four real control planes, Redis and Git; Atoll installed on it; the way of a commit played and
 * told. With `--once` it ends after the story, non-zero if a step did not happen; otherwise it stays up until Ctrl-C.
 */
async function main(): Promise<number> {
  const onlyOnce = process.argv.includes('--once');
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort());
  console.log('Starting a hub, three members, Redis and a Git server on 127.0.0.1');
  const options = { members: Object.keys(MEMBERS), audit: true, workloads: true };
  const lab = await startLab({ ...options, progress: (line) => console.log(`  ${line}`) });
  const fleet = new Fleet({ lab, team: 'shop', members: MEMBERS });
  const narrator = new Narrator();
  try {
    await Promise.race([new Story(fleet, narrator).play(), once(stopping.signal, 'abort')]);
    if (stopping.signal.aborted) return 0;
    console.log(`\nPlayed in ${narrator.elapsed()}.`);
    if (onlyOnce) return 0;
    lookAround(fleet);
    await once(stopping.signal, 'abort');
    return 0;
  } catch (error) {
    console.error(`\nThe demo failed: ${describe(error)}`);
    for (const replica of fleet.replicas) console.error(lastWords(replica.name, replica.log));
    return 1;
  } finally {
    console.log('\nStopping everything');
    await fleet.close();
    await lab.stop();
  }
}

function lookAround(fleet: Fleet): void {
  const { lab, repository, team } = fleet;
  const lines = [
    `hub:        kubectl --kubeconfig ${lab.hub.kubeconfigPath} get memberclusters,gitsources,federatedredisclusters -A`,
    ...Object.values(lab.members).map(({ name, kubeconfigPath }) => {
      return `${name}:       kubectl --kubeconfig ${kubeconfigPath} -n ${team} get redisclusters,statefulsets,pods`;
    }),
    `kubectl:    ${lab.kubectl}`,
    `repository: ${repository.url} (user ${lab.git.username}, password ${lab.git.password})`,
    `            git -c http.sslVerify=false clone <repository>; put ${SESSIONS} back; push to main`,
    ...fleet.replicas
      .filter(({ running }) => running)
      .map(({ name, url }) => `${name}: ${url}/metrics, log ${fleet.directory}/${name}.log`),
  ];
  console.log('Look around (Ctrl-C ends it all):');
  for (const line of lines) console.log(`  ${line}`);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\n  caused by ${describe(error.cause)}`;
  return `${error.message}${cause}`;
}

function lastWords(name: string, log: readonly { level: string; msg: string }[]): string {
  const lines = log.filter(({ level }) => level !== 'info').slice(-10);
  return [`last words of ${name}:`, ...lines.map((line) => `  ${JSON.stringify(line)}`)].join('\n');
}

process.exitCode = await main();
