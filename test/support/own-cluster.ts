import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { KubernetesClient } from '../../src/kubernetes/index.ts';
import { Cluster } from '../lab/cluster.ts';
import type { LabCluster } from '../lab/index.ts';
import { createEtcd } from '../lab/etcd.ts';
import type { Service } from '../lab/service.ts';
import { openAdmin } from './admin-client.ts';
import { lab } from './lab.ts';

/**
 * An API server with an etcd of its own, without controllers: for what cannot be done to the lab's, which all tests share.
 * It runs the programs that the lab's kubectl lies beside.
 */
export class OwnCluster {
  readonly description: LabCluster;
  readonly admin: KubernetesClient;
  readonly #directory: string;
  readonly #etcd: { readonly service: Service; readonly url: string };
  readonly #apiServer: Service;
  readonly #cluster: Cluster;

  private constructor(directory: string, etcd: { service: Service; url: string }, cluster: Cluster) {
    const [apiServer] = cluster.services;
    if (apiServer === undefined) throw new Error('a cluster without an API server');
    this.#directory = directory;
    this.#etcd = etcd;
    this.#cluster = cluster;
    this.#apiServer = apiServer;
    this.description = cluster.description;
    this.admin = openAdmin(cluster.description);
  }

  /** Starts both; on wish with an audit log of mutating requests. */
  static async start({ audit = false } = {}): Promise<OwnCluster> {
    const directory = await mkdtemp(join(tmpdir(), 'atoll-own-cluster-'));
    await mkdir(join(directory, 'logs'));
    const program = (name: string): string => join(dirname(lab().kubectl), name);
    const etcd = await createEtcd(directory, program('etcd'));
    const programs = {
      etcd: program('etcd'),
      'kube-apiserver': program('kube-apiserver'),
      'kube-controller-manager': program('kube-controller-manager'),
      'kube-scheduler': program('kube-scheduler'),
      kwok: 'not run',
      kwokStages: 'not read',
      kwokDefinitions: 'not read',
    };
    const options = { name: 'own', directory, etcdUrl: etcd.url, programs, audit, role: 'hub' } as const;
    const own = new OwnCluster(directory, etcd, await Cluster.create(options));
    try {
      await own.startServices();
    } catch (error) {
      await own.stop();
      throw error;
    }
    return own;
  }

  /** Starts what is stopped, storage first. */
  async startServices(): Promise<void> {
    await this.#etcd.service.start();
    await this.#apiServer.start();
  }

  /** Ends API server and storage, as a crash would. */
  async kill(): Promise<void> {
    await this.#apiServer.kill();
    await this.#etcd.service.kill();
  }

  /** Ends the API server as an update would, and starts it again. */
  async restartApiServer(): Promise<void> {
    await this.#apiServer.stop();
    await this.#apiServer.start();
  }

  /** Takes a backup of the storage, for which everything is stopped and started again. */
  async backUp(): Promise<void> {
    await this.kill();
    await rm(this.#backup, { recursive: true, force: true });
    await cp(this.#data, this.#backup, { recursive: true });
    await this.startServices();
  }

  /** Puts the storage back to where the backup was taken. */
  async restore(): Promise<void> {
    await this.kill();
    await rm(this.#data, { recursive: true });
    await cp(this.#backup, this.#data, { recursive: true });
    await this.startServices();
  }

  /** Drops the history of the storage up to now. */
  async compact(): Promise<void> {
    const call = async (path: string, body: object): Promise<{ header?: { revision?: string } }> => {
      const answer = await fetch(`${this.#etcd.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`etcd: ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as { header?: { revision?: string } };
    };
    const { header } = await call('/v3/kv/range', { key: 'AA==', count_only: true });
    await call('/v3/kv/compaction', { revision: header?.revision, physical: true });
  }

  async stop(): Promise<void> {
    await this.admin.close();
    this.#cluster.close();
    await this.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.#directory, 'etcd');
  }

  get #backup(): string {
    return join(this.#directory, 'backup');
  }
}
