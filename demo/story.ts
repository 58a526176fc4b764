import { SOURCE, applied, membersReady, readyIn, removedFrom, startReady } from '../test/installation/index.ts';
import type { Fleet, Replica } from '../test/installation/index.ts';
import { eventually } from '../test/support/eventually.ts';
import type { Narrator } from './narrator.ts';
import { SESSIONS, brokenCommit, firstCommit, secondCommit } from './repository.ts';

/** Region and tier of the members. */
export const MEMBERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'eu-1': { region: 'eu', tier: 'prod' },
  'us-1': { region: 'us', tier: 'prod' },
  'ap-1': { region: 'ap', tier: 'staging' },
};

/** The object that the story is about. */
const NAME = 'sessions';

/** The whole way of a commit, step by step. */
export class Story {
  readonly #fleet: Fleet;
  readonly #narrator: Narrator;

  constructor(fleet: Fleet, narrator: Narrator) {
    this.#fleet = fleet;
    this.#narrator = narrator;
  }

  /** Plays all steps. @throws when one does not happen */
  async play(): Promise<void> {
    const steps: readonly [string, () => Promise<string>][] = [
      ['Install Atoll on the hub and start two replicas', () => this.#install()],
      ['Join the members', () => this.#join()],
      ['Commit a FederatedRedisCluster for every production cluster', () => this.#commitFirst()],
      ['Commit a change, an override for Europe, and one more cluster', () => this.#commitSecond()],
      ['Commit a misspelt field', () => this.#commitBroken()],
      ['Change a child by hand in us-1', () => this.#heal()],
      ['Kill the replica that works the most clusters', () => this.#takeOver()],
      ['Delete the object in Git', () => this.#remove()],
    ];
    for (const [title, step] of steps) await this.#narrator.step(title, step);
  }

  async #install(): Promise<string> {
    await this.#fleet.install({ 'README.md': firstCommit['README.md'], 'apps/.gitkeep': '' });
    await Promise.all([startReady(this.#fleet, 'atoll-0'), startReady(this.#fleet, 'atoll-1')]);
    return `two replicas run as service account atoll: ${this.#fleet.replicas.map(({ url }) => url).join(', ')}`;
  }

  async #join(): Promise<string> {
    for (const name of this.#fleet.members) {
      await this.#fleet.join(name);
      const labels = Object.entries(MEMBERS[name] ?? {}).map(([key, value]) => `${key}=${value}`);
      this.#narrator.say(`atoll join ${name} --labels ${labels.join(',')} …`);
    }
    await membersReady(this.#fleet);
    await this.#show('hub', 'get', 'memberclusters', '-L', 'region,tier');
    return 'three members are Ready, each worked by one replica';
  }

  async #commitFirst(): Promise<string> {
    const oid = await this.#fleet.commit(firstCommit, 'Run a Redis cluster for sessions');
    await applied(this.#fleet, oid);
    await readyIn(this.#fleet, NAME, ['eu-1', 'us-1']);
    await this.#show('hub', '-n', this.#fleet.team, 'get', 'federatedredisclusters');
    const kinds = 'rediscluster,statefulset,service,configmap,pdb,serviceaccount,pod';
    await this.#show('eu-1', '-n', this.#fleet.team, 'get', kinds);
    return `commit ${oid.slice(0, 8)} runs in eu-1 and us-1, and nowhere else`;
  }

  async #commitSecond(): Promise<string> {
    const oid = await this.#fleet.commit(
      secondCommit,
      'Evict least recently used keys; more memory in Europe; add ap-1',
    );
    await applied(this.#fleet, oid);
    await readyIn(this.#fleet, NAME, this.#fleet.members);
    const memory = await Promise.all(this.#fleet.members.map((name) => this.#memoryLimit(name)));
    if (memory.join(' ') !== '512Mi 256Mi 256Mi') throw new Error(`the memory limits are ${memory.join(', ')}`);
    await this.#show('hub', '-n', this.#fleet.team, 'get', 'federatedredisclusters', '-o', 'wide');
    return `commit ${oid.slice(0, 8)} runs in all three; the override gave eu-1 512Mi, the others keep 256Mi`;
  }

  async #commitBroken(): Promise<string> {
    const before = (await this.#fleet.federated(NAME))?.metadata.generation;
    await this.#fleet.commit(brokenCommit, 'Scale (with a typing mistake)');
    const message = await eventually(
      async () => {
        const ready = (await this.#fleet.source())?.status?.conditions?.find(({ type }) => type === 'Ready');
        return ready?.status === 'False' && ready.message.includes(SESSIONS) ? ready.message : undefined;
      },
      { message: 'the source does not say what is wrong' },
    );
    this.#narrator.say(`GitSource ${SOURCE}: ${message}`);
    const after = (await this.#fleet.federated(NAME))?.metadata.generation;
    if (after !== before) throw new Error('the broken commit changed the object');
    await applied(this.#fleet, await this.#fleet.commit(secondCommit, 'Correct the mistake'));
    return 'nothing of it was applied, and the correction was taken up';
  }

  async #heal(): Promise<string> {
    const patch = '{"spec":{"replicas":1}}';
    const where = ['-n', this.#fleet.team];
    await this.#show('us-1', ...where, 'patch', 'statefulset', NAME, '--type', 'merge', '-p', patch);
    await eventually(
      async () => {
        const live = await this.#fleet.read('us-1', 'StatefulSet', NAME);
        return (live?.['spec'] as { replicas?: number } | undefined)?.replicas === 3;
      },
      { message: 'the StatefulSet did not get its three replicas back' },
    );
    await readyIn(this.#fleet, NAME, this.#fleet.members);
    return 'taken back on the watch event, without polling';
  }

  async #takeOver(): Promise<string> {
    const owners = await this.#owners();
    const works = (replica: Replica): string[] =>
      this.#fleet.members.filter((name) => owners.get(name) === replica.name);
    const [victim, survivor] = this.#fleet.replicas.toSorted((a, b) => works(b).length - works(a).length);
    if (victim === undefined || survivor === undefined) throw new Error('there are not two replicas');
    this.#narrator.say(`${victim.name} works ${works(victim).join(', ')}: kill -9 ${victim.pid}`);
    await victim.end('SIGKILL');
    await eventually(
      async () => {
        const now = await this.#owners();
        return this.#fleet.members.every((name) => now.get(name) === survivor.name);
      },
      { message: `${survivor.name} did not take over every member` },
    );
    await readyIn(this.#fleet, NAME, this.#fleet.members);
    await startReady(this.#fleet, `${victim.name}-again`);
    return `${survivor.name} took over; another replica was started in place of ${victim.name}`;
  }

  async #remove(): Promise<string> {
    const oid = await this.#fleet.commit({ [SESSIONS]: undefined }, 'Sessions move elsewhere');
    await removedFrom(this.#fleet, NAME, this.#fleet.members);
    return `commit ${oid.slice(0, 8)} removed it from every member, with all its children`;
  }

  async #memoryLimit(cluster: string): Promise<string> {
    const live = await this.#fleet.read(cluster, 'RedisCluster', NAME);
    const spec = live?.['spec'] as { resources?: { limits?: { memory?: string } } } | undefined;
    return spec?.resources?.limits?.memory ?? '';
  }

  async #owners(): Promise<ReadonlyMap<string, string>> {
    const owners = this.#fleet.members.map(async (name): Promise<[string, string]> => {
      return [name, (await this.#fleet.member(name))?.status?.owner ?? ''];
    });
    return new Map(await Promise.all(owners));
  }

  /** Runs kubectl and shows both the command and what it printed. */
  async #show(cluster: string, ...parameters: string[]): Promise<void> {
    const output = await this.#fleet.kubectl(cluster, ...parameters);
    const { kubeconfigPath } = this.#fleet.cluster(cluster);
    const typed = parameters.map((parameter) => (/[^\w,./:=-]/.test(parameter) ? `'${parameter}'` : parameter));
    this.#narrator.show(`kubectl --kubeconfig ${kubeconfigPath} ${typed.join(' ')}`, output);
  }
}
