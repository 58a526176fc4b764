import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from '../../src/kernel/index.ts';
import { Cluster } from './cluster.ts';
import { ControlServer } from './control.ts';
import type { LabCluster, LabDescription, LabOptions, Progress } from './description.ts';
import { createEtcd } from './etcd.ts';
import { GitServer } from './git-server.ts';
import { type LabPrograms, labPrograms } from './programs.ts';
import { createRedis } from './redis-server.ts';
import type { Service } from './service.ts';

/** Owns everything that a lab runs, inside the lab process (`main.ts`). */
export class LabHost {
  readonly #directory: string;
  readonly #progress: Progress;
  readonly #clusters: Cluster[] = [];
  readonly #services: Service[] = [];
  #git: GitServer | undefined;
  #control: ControlServer | undefined;

  private constructor(directory: string, progress: Progress) {
    this.#directory = directory;
    this.#progress = progress;
  }

  static async create(options: LabOptions, progress: Progress): Promise<LabHost> {
    return new LabHost(await prepareDirectory(options.directory), progress);
  }

  /** Starts everything at once and writes `description.json`. After a failure, `stop` is still to be called. */
  async start(options: LabOptions, environment: NodeJS.ProcessEnv): Promise<LabDescription> {
    const programs = labPrograms(environment);
    await mkdir(join(this.#directory, 'logs'), { recursive: true });
    this.#git = await GitServer.start(this.#directory, programs.git);
    const [redisUrl, clusters] = await Promise.all([
      this.#startRedis(programs, environment['ATOLL_REDIS_URL']),
      this.#startClusters(options, programs, environment['ATOLL_LAB_KUBECONFIGS']),
    ]);
    this.#control = await ControlServer.start(this.#services);
    const { hub, ...members } = clusters;
    if (hub === undefined) throw new Error('ATOLL_LAB_KUBECONFIGS must name a cluster `hub`');
    const description: LabDescription = {
      directory: this.#directory,
      kubectl: programs.kubectl,
      hub,
      members,
      redis: { url: redisUrl },
      git: this.#git.description,
      control: this.#control.address,
    };
    await writeFile(join(this.#directory, 'description.json'), JSON.stringify(description, undefined, 2), {
      mode: 0o600,
    });
    return description;
  }

  /** Ends everything, what depends on others first, and removes the lab's directory. */
  async stop(): Promise<void> {
    await Promise.all([this.#control?.stop(), this.#git?.stop()]);
    this.#control = undefined;
    this.#git = undefined;
    for (const crashed of this.#services.filter((service) => service.crashed)) {
      this.#progress(`${crashed.name} ended on its own; its last words:\n${crashed.lastWords()}`);
    }
    const etcd = this.#services.filter(({ name }) => name === 'etcd');
    const apiServers = this.#services.filter(({ name }) => name.endsWith('/kube-apiserver'));
    const others = this.#services.filter((service) => !etcd.includes(service) && !apiServers.includes(service));
    for (const group of [others, apiServers, etcd]) await Promise.all(group.map(async (service) => service.stop()));
    for (const cluster of this.#clusters) cluster.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #startRedis(programs: LabPrograms, url: string | undefined): Promise<string> {
    if (url !== undefined) return url;
    if (programs['redis-server'] === undefined) throw new Error('redis-server is missing from ATOLL_LAB_PROGRAMS');
    const redis = await createRedis(this.#directory, programs['redis-server']);
    this.#services.push(redis.service);
    await redis.service.start();
    return redis.url;
  }

  async #startClusters(
    options: LabOptions,
    programs: LabPrograms,
    kubeconfigs: string | undefined,
  ): Promise<Record<string, LabCluster>> {
    if (kubeconfigs !== undefined) return existingClusters(kubeconfigs);
    const { controlPlane } = programs;
    if (controlPlane === undefined) throw new Error('the control plane is missing from ATOLL_LAB_PROGRAMS');
    const etcd = await createEtcd(this.#directory, controlPlane.etcd);
    this.#services.push(etcd.service);
    const clusters = await Promise.all(
      ['hub', ...options.members].map(async (name) => {
        const memberRole = options.workloads ? 'workloads' : 'member';
        const role = name === 'hub' ? 'hub' : memberRole;
        const { audit } = options;
        return Cluster.create({
          name,
          directory: this.#directory,
          etcdUrl: etcd.url,
          programs: controlPlane,
          audit,
          role,
        });
      }),
    );
    this.#clusters.push(...clusters);
    this.#services.push(...clusters.flatMap(({ services }) => services));
    await etcd.service.start();
    await Promise.all(clusters.map(async (cluster) => this.#startCluster(cluster)));
    return Object.fromEntries(clusters.map(({ description }) => [description.name, description]));
  }

  async #startCluster(cluster: Cluster): Promise<void> {
    const started = systemClock.monotonic();
    await cluster.start();
    const seconds = ((systemClock.monotonic() - started) / 1000).toFixed(1);
    this.#progress(`cluster ${cluster.description.name} is ready after ${seconds} s: ${cluster.description.server}`);
  }
}

async function prepareDirectory(wanted: string | undefined): Promise<string> {
  if (wanted === undefined) return mkdtemp(join(tmpdir(), 'atoll-lab-'));
  const directory = resolve(wanted);
  await mkdir(directory, { recursive: true });
  if ((await readdir(directory)).length > 0) throw new Error(`${directory} is not empty; the lab would remove it`);
  return directory;
}

/** Clusters that run already: `hub=<path of a kubeconfig>,eu-1=<path>`. */
async function existingClusters(kubeconfigs: string): Promise<Record<string, LabCluster>> {
  const clusters: Record<string, LabCluster> = {};
  for (const entry of kubeconfigs.split(',')) {
    const [, name, path] = /^\s*([^=\s]+)=(.+)$/.exec(entry) ?? [];
    if (name === undefined || path === undefined) {
      throw new Error(`ATOLL_LAB_KUBECONFIGS: ${JSON.stringify(entry)} is not of the form name=path`);
    }
    const kubeconfig = await readFile(path, 'utf8');
    const server = /^\s*server:\s*"?([^"\s]+)/m.exec(kubeconfig)?.[1];
    if (server === undefined) throw new Error(`ATOLL_LAB_KUBECONFIGS: ${path} names no server`);
    clusters[name] = { name, server, kubeconfig, kubeconfigPath: resolve(path) };
  }
  return clusters;
}
