import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { FederatedObject, GitSource, MemberCluster } from '../../src/api/index.ts';
import { systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import type { KubernetesClient } from '../../src/kubernetes/index.ts';
import { GitRepository } from '../lab/index.ts';
import type { FileChanges, LabCluster, LabDescription } from '../lab/index.ts';
import { openAdmin } from '../support/admin-client.ts';
import { installOnHub, kubectl } from './hub.ts';
import { joinMember } from './join.ts';
import { Replica } from './replica.ts';
import { SOURCE, tenantObjects } from './tenant.ts';

/** Who plays: the lab, one tenant, and the labels of its members. */
export interface FleetOptions {
  readonly lab: LabDescription;
  /** Namespace of the tenant, on the hub and in the members; also the name of its repository. */
  readonly team: string;
  readonly members: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** `ATOLL_*` variables of every replica. */
  readonly environment?: Readonly<Record<string, string>>;
}

const run = promisify(execFile);

/** Atoll on a lab with one tenant: its replicas, its repository, and ways to look at all of it. */
export class Fleet {
  readonly lab: LabDescription;
  readonly team: string;
  readonly members: readonly string[];
  readonly replicas: Replica[] = [];
  readonly #options: FleetOptions;
  readonly #clients = new Map<string, KubernetesClient>();
  #repository: GitRepository | undefined;
  #hubKubeconfig = '';

  constructor(options: FleetOptions) {
    this.#options = options;
    this.lab = options.lab;
    this.team = options.team;
    this.members = Object.keys(options.members);
  }

  get repository(): GitRepository {
    if (this.#repository === undefined) throw new Error('the repository is created when Atoll is installed');
    return this.#repository;
  }

  /** Where replicas keep their logs. */
  get directory(): string {
    return `${this.lab.directory}/atoll-${this.team}`;
  }

  /** `deploy/` on the hub, the tenant's objects, the repository with its first files. */
  async install(files: FileChanges): Promise<void> {
    await mkdir(this.directory, { recursive: true });
    this.#hubKubeconfig = await installOnHub(this.lab, this.directory);
    this.#repository = await GitRepository.create(this.lab.git, this.team);
    await this.#repository.commit(files, 'Begin');
    await this.apply(tenantObjects(this.lab, this.team, this.#repository));
  }

  /** Plays `atoll join` for one member with its labels, and further arguments. */
  async join(name: string, ...further: readonly string[]): Promise<void> {
    await joinMember(this.lab, { name, labels: this.#options.members[name] ?? {}, further });
  }

  /** `kubectl apply` on the hub. */
  async apply(objects: readonly KubernetesObject[]): Promise<void> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    const child = run(this.lab.kubectl, ['--kubeconfig', this.lab.hub.kubeconfigPath, 'apply', '-f', '-']);
    child.child.stdin?.end(list);
    await child;
  }

  /** Starts a replica, which then is on its way to be ready. */
  async startReplica(name: string, environment: Readonly<Record<string, string>> = {}): Promise<Replica> {
    const replica = await Replica.start({
      name,
      hubKubeconfig: this.#hubKubeconfig,
      redisUrl: this.lab.redis.url,
      logFile: `${this.directory}/${name}.log`,
      environment: { ...this.#options.environment, ...environment },
    });
    this.replicas.push(replica);
    return replica;
  }

  /** A commit, and the annotation that makes the source look at once (a webhook would do the same). */
  async commit(files: FileChanges, message: string): Promise<string> {
    const oid = await this.repository.commit(files, message);
    await this.requestSync();
    return oid;
  }

  /** Makes the tenant's source look now, by the annotation that any user would set. */
  async requestSync(): Promise<void> {
    const annotations = { 'atoll.dev/requestedAt': String(systemClock.now()) };
    const metadata = { name: SOURCE, namespace: this.team, annotations };
    const write = { identity: { kind: 'self' }, fieldManager: 'request-sync', guard: () => undefined } as const;
    await this.client('hub').apply({ apiVersion: 'federation.atoll.dev/v1', kind: 'GitSource', metadata }, write);
  }

  /** A cluster of the lab: `hub` or a member. */
  cluster(name: string): LabCluster {
    const cluster = name === 'hub' ? this.lab.hub : this.lab.members[name];
    if (cluster === undefined) throw new Error(`the lab has no cluster ${name}`);
    return cluster;
  }

  /** The lab's kubectl against one of its clusters. @returns what it printed */
  kubectl(cluster: string, ...parameters: string[]): Promise<string> {
    return kubectl(this.lab, this.cluster(cluster), ...parameters);
  }

  /** Reads an object of a cluster; undefined when there is none. */
  read(cluster: string, kind: Kind, name: string): Promise<KubernetesObject | undefined> {
    const [gvk, namespaced] = kinds[kind];
    return this.client(cluster).get({ gvk, name, ...(namespaced ? { namespace: this.team } : {}) });
  }

  /** A federated object on the hub. */
  async federated(name: string): Promise<FederatedObject | undefined> {
    return (await this.read('hub', 'FederatedRedisCluster', name)) as FederatedObject | undefined;
  }

  /** A MemberCluster on the hub. */
  async member(name: string): Promise<MemberCluster | undefined> {
    return (await this.read('hub', 'MemberCluster', name)) as MemberCluster | undefined;
  }

  async source(): Promise<GitSource | undefined> {
    return (await this.read('hub', 'GitSource', SOURCE)) as GitSource | undefined;
  }

  /** Names of all objects of a kind in the team's namespace of a cluster. */
  async names(cluster: string, kind: Kind): Promise<string[]> {
    const { items } = await this.client(cluster).list(kinds[kind][0], { namespace: this.team });
    return items.map(({ metadata }) => metadata.name ?? '');
  }

  /** Ends the replicas in order, and closes the connections. The lab is its starter's to stop. */
  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.end('SIGTERM')));
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
  }

  /** A client of a cluster of the lab, as its administrator. */
  client(name: string): KubernetesClient {
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const client = openAdmin(this.cluster(name));
    this.#clients.set(name, client);
    return client;
  }
}

const kinds = {
  FederatedRedisCluster: [{ group: 'federation.atoll.dev', version: 'v1', kind: 'FederatedRedisCluster' }, true],
  GitSource: [{ group: 'federation.atoll.dev', version: 'v1', kind: 'GitSource' }, true],
  MemberCluster: [{ group: 'federation.atoll.dev', version: 'v1', kind: 'MemberCluster' }, false],
  RedisCluster: [{ group: 'workloads.atoll.dev', version: 'v1', kind: 'RedisCluster' }, true],
  StatefulSet: [{ group: 'apps', version: 'v1', kind: 'StatefulSet' }, true],
  Service: [{ group: '', version: 'v1', kind: 'Service' }, true],
  ConfigMap: [{ group: '', version: 'v1', kind: 'ConfigMap' }, true],
} as const;

/** The kinds that tests and demo look at. */
export type Kind = keyof typeof kinds;
