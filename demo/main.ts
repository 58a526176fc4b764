import { once } from 'node:events';
import { dirname } from 'node:path';
import { Fleet, SOURCE } from '../test/installation/index.ts';
import { startLab } from '../test/lab/index.ts';
import { Narrator } from './narrator.ts';
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
  const clone = `${fleet.directory}/clone`;
  const { username, password } = lab.git;
  const url = repository.url.replace('://', `://${username}:${password}@`);
  const lines = [
    '# the hub, and each member',
    `export PATH=${dirname(lab.kubectl)}:$PATH KUBECONFIG=${lab.hub.kubeconfigPath}`,
    `kubectl -n ${team} get memberclusters,gitsources,federatedredisclusters`,
    ...Object.values(lab.members).map(({ kubeconfigPath }) => {
      return `kubectl --kubeconfig ${kubeconfigPath} -n ${team} get redisclusters,statefulsets,pods`;
    }),
    `# bring back what the last commit deleted, without waiting for the source's interval`,
    `git clone -c http.sslVerify=false ${url} ${clone} && cd ${clone}`,
    'git -c user.name=me -c user.email=me@example.com revert --no-edit HEAD && git push',
    `kubectl -n ${team} annotate gitsource ${SOURCE} --overwrite atoll.dev/requestedAt="$(date +%s)"`,
    `kubectl -n ${team} get federatedredisclusters --watch`,
    '# the replicas',
    ...fleet.replicas
      .filter(({ running }) => running)
      .flatMap(({ name, url: replica }) => [`curl ${replica}/metrics`, `tail ${fleet.directory}/${name}.log`]),
  ];
  console.log('Look around from another terminal (Ctrl-C here ends it all):\n');
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
