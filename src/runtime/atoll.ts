import {
  customResourceDefinition,
  federatedKinds,
  gitSourceKind,
  memberClusterKind,
  publishedKinds,
} from '../api/index.ts';
import type { FederatedKind, FederatedObject } from '../api/index.ts';
import { managedFieldsReducer } from '../apply/index.ts';
import { MemberClusters } from '../clusters/index.ts';
import type { Cluster, Wiring } from '../clusters/index.ts';
import type { Config } from '../config/index.ts';
import type { Caches, Controller, ControllerBuilder, ControllerOptions } from '../controllers/index.ts';
import { EventRecorder } from '../events/index.ts';
import type { EventPort } from '../events/index.ts';
import {
  CONTROLLER_REVISION,
  FederatedReconciler,
  GitSourceReconciler,
  HubObjects,
  Inventories,
  RedisStatusRows,
  federatedController,
  gitSourceController,
  isShown,
  memberClusterController,
  recordController,
} from '../federation/index.ts';
import type { StatusRow } from '../federation/index.ts';
import { GitProcess } from '../git/index.ts';
import { ListLimit, SharedInformerFactory } from '../informers/index.ts';
import type { SharedInformerFactoryOptions } from '../informers/index.ts';
import { HUB, LeaseLostError, TerminalError, formatGvk, gvkOf, keyFor, kindName } from '../kernel/index.ts';
import type { Clock, Key, KubernetesObject, Logger, Metrics, Random } from '../kernel/index.ts';
import { KubernetesClient } from '../kubernetes/index.ts';
import type { Connection, ConnectionSource } from '../kubernetes/index.ts';
import { LeaseEpochStore, Shards } from '../leadership/index.ts';
import type { ManifestReading } from '../manifests/index.ts';
import { RedisConnections } from '../redis/index.ts';
import { Workqueues } from '../workqueue/index.ts';
import type { AddOptions, Reconcile } from '../workqueue/index.ts';
import { HubInformers } from './hub-informers.ts';
import { installationId } from './installation.ts';
import { MemberWiring } from './member-wiring.ts';
import { ShardRunner, queueOf } from './shard-runner.ts';

/** What a replica is given by its surroundings. */
export interface AtollOptions {
  readonly config: Config;
  readonly hub: Connection | ConnectionSource;
  /** The script that git jobs run in. */
  readonly gitChild: URL;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** How long a replica that stops waits for its parts before it goes anyway. */
const STOP_DEADLINE = 8000;
/** Time between two questions to a hub that does not answer at start. */
const HUB_RETRY = 2000;

/**
 * One replica: the hub's informers, the shards that it owns, and what runs in them.
 *
 * `start` returns when the hub's informers are synced; the rest follows the leases. `stop` ends in the order that
 * loses nothing: no new work, runs ended or abandoned, leases released, connections closed.
 */
export class Atoll {
  readonly #options: AtollOptions;
  readonly #hub: KubernetesClient;
  readonly #factory: SharedInformerFactory;
  /** What the informers of all clusters share. */
  readonly #commonInformers: Pick<SharedInformerFactoryOptions, 'listLimit' | 'transform'>;
  readonly #informers: HubInformers;
  readonly #redis: RedisConnections;
  readonly #queues: Workqueues;
  readonly #shards: Shards;
  readonly #git: GitProcess<ManifestReading>;
  readonly #rows: RedisStatusRows;
  readonly #events: EventRecorder;
  readonly #wirings = new Map<string, MemberWiring>();
  #runner: ShardRunner | undefined;
  #synced = false;

  constructor(options: AtollOptions) {
    const { config, clock, random, metrics, logger } = options;
    const ports = { clock, random, metrics, logger };
    this.#options = options;
    this.#hub = new KubernetesClient({ cluster: HUB, connection: options.hub, ...ports });
    this.#commonInformers = { listLimit: new ListLimit({ clock }), transform: managedFieldsReducer() };
    this.#factory = new SharedInformerFactory({ client: this.#hub, ...ports, ...this.#commonInformers });
    this.#informers = new HubInformers(this.#factory, config.namespace);
    this.#redis = new RedisConnections({ ...config.redis, logger, metrics });
    const { maxConcurrency, retryLimit } = config;
    this.#queues = new Workqueues({ redis: this.#redis, maxConcurrency, retryLimit, ...ports });
    this.#rows = new RedisStatusRows(this.#redis);
    this.#events = new EventRecorder({
      client: this.#hub,
      source: { component: 'atoll', host: config.replica },
      ...ports,
    });
    const git = { childScript: options.gitChild, allowLoopback: config.gitAllowLoopback };
    this.#git = new GitProcess({ ...git, clock, logger, metrics });
    this.#shards = this.#createShards();
  }

  /** Connects to the hub and joins the other replicas. Waits for the hub as long as it takes; Redis may come later. */
  async start(signal: AbortSignal): Promise<void> {
    const { logger } = this.#options;
    this.#factory.start();
    const installation = await this.#identify(signal);
    if (installation === undefined) return;
    this.#run(installation);
    if (!(await this.#factory.waitForSync(signal))) return;
    this.#synced = true;
    logger.info('hub informers synced', { installation, replica: this.#options.config.replica });
    this.#updateShards();
    this.#shards.start();
  }

  /** Why this replica cannot serve; undefined when it can. Redis does not count: a metric and the log tell of it. */
  notReady(): string | undefined {
    if (this.#synced) return undefined;
    const unserved = this.#factory.unserved().map((gvk) => kindName(gvk));
    const wanting = unserved.length === 0 ? '' : `: the hub does not serve ${unserved.join(', ')}`;
    return `the informers of the hub have not synced yet${wanting}`;
  }

  /** No new work; ends or abandons runs; releases the leases; closes everything. Ends within 8 s in any case. */
  async stop(): Promise<void> {
    await Promise.race([this.#stopInOrder(), this.#options.clock.sleep(STOP_DEADLINE)]);
  }

  async #stopInOrder(): Promise<void> {
    await this.#runner?.stop(this.#shardNames().filter((shard) => this.#shards.holds(shard)));
    // What runs have told is written while their shards are still held.
    await this.#events.close();
    await this.#shards.stop();
    await Promise.all([this.#factory.stop(), this.#git.close(), this.#queues.close()]);
    await Promise.all([this.#hub.close(), this.#redis.close()]);
  }

  /** The installation id, asked for until the hub answers. */
  async #identify(signal: AbortSignal): Promise<string | undefined> {
    const { config, clock, logger } = this.#options;
    while (!signal.aborted) {
      try {
        return await installationId(this.#hub, config.namespace, config.installationId);
      } catch (error) {
        if (error instanceof TerminalError) throw error;
        if (signal.aborted) break;
        logger.warn('the hub does not answer yet', { error });
        await clock.sleep(HUB_RETRY, signal);
      }
    }
    return undefined;
  }

  #createShards(): Shards {
    const { config, clock, random, logger, metrics } = this.#options;
    const leaseDurationSeconds = Math.max(1, Math.round(config.lease.duration / 1000));
    const epochs = new LeaseEpochStore({ client: this.#hub, namespace: config.namespace, clock, leaseDurationSeconds });
    const replica = `${config.replica}_${Math.floor(random() * 2 ** 32).toString(36)}`;
    return new Shards({ redis: this.#redis, replica, times: config.lease, epochs, clock, random, logger, metrics });
  }

  #run(installation: string): void {
    const members = this.#createMembers(installation);
    const { triggers } = this.#informers;
    const memberClusters = this.#attach(
      memberClusterController(triggers),
      () => (key, context) => members.reconcile(key, context),
    );
    const hub = [
      ...federatedKinds.map((kind) =>
        this.#attach(federatedController(kind, triggers), (caches) => this.#federated(kind, caches)),
      ),
      this.#attach(gitSourceController(triggers), (caches) => this.#gitSources(installation, caches)),
    ];
    this.#runner = new ShardRunner({
      shards: this.#shards,
      queues: this.#queues,
      isShard: (shard) => this.#shardNames().includes(shard),
      logger: this.#options.logger,
      members,
      memberClusters,
      wiringOf: (cluster) => this.#wirings.get(cluster),
      hub,
      concurrency: this.#options.config.concurrency,
    });
    for (const kind of federatedKinds) this.#attach(recordController(kind, triggers));
    this.#queues.onDataLoss(() => this.#runner?.enqueueOwned(this.#shardNames()));
    this.#informers.members.addHandler({
      onAdd: () => this.#updateShards(),
      onDelete: () => this.#updateShards(),
    });
  }

  #createMembers(installation: string): MemberClusters {
    const { config, clock, random, logger, metrics } = this.#options;
    return new MemberClusters({
      hub: this.#hub,
      events: this.#eventsOf(({ metadata }) => metadata.name ?? ''),
      members: this.#informers.members.lister,
      secrets: this.#informers.secrets.lister,
      namespace: config.namespace,
      replica: config.replica,
      probeInterval: config.probeInterval,
      definitions: publishedKinds
        .filter(({ location }) => location === 'member')
        .map((kind) => customResourceDefinition(kind)),
      informers: this.#commonInformers,
      epochOf: (name) => this.#epochOf(name),
      wire: (cluster) => this.#wire(cluster, installation),
      clock,
      random,
      logger,
      metrics,
    });
  }

  #epochOf(shard: string): number {
    const epoch = this.#shards.epoch(shard);
    if (epoch === undefined) throw new LeaseLostError(`shard ${shard} is not held`);
    return epoch;
  }

  #wire(cluster: Cluster, installation: string): Wiring {
    const { config, clock, logger, metrics } = this.#options;
    const wiring = new MemberWiring(cluster, this.#queues.queue(cluster.name), {
      hub: this.#hub,
      informers: this.#informers,
      installation,
      managers: config.fieldManagers,
      report: (name, object, row) => this.#report(name, object, row),
      clock,
      logger: logger.child({ cluster: cluster.name }),
      metrics,
      onDetach: () => this.#forget(wiring),
    });
    this.#wirings.set(cluster.name, wiring);
    return wiring;
  }

  /** A member may have been engaged anew before its last engagement was closed. */
  #forget(wiring: MemberWiring): void {
    if (this.#wirings.get(wiring.cluster) === wiring) this.#wirings.delete(wiring.cluster);
  }

  /** A report that the hub does not show yet brings the object's key to its worker, at most once per interval. */
  async #report(cluster: string, object: FederatedObject, row: StatusRow): Promise<void> {
    const isNew = await this.#rows.report(object.metadata.uid ?? '', cluster, row);
    const shown = object.status?.placements?.find((placement) => placement.cluster === cluster);
    if (!isNew && isShown(row, shown)) return;
    const key = keyFor(HUB, kindName(gvkOf(object)), object);
    this.#queues.queue(HUB).addAfter(key, this.#options.config.statusInterval);
  }

  /** Git → hub. */
  #gitSources(installation: string, caches: Caches): Reconcile {
    const { clock, random, logger, config } = this.#options;
    const listers = new Map(federatedKinds.map(({ federated: { gvk } }) => [formatGvk(gvk), caches(gvk)]));
    const reconciler = new GitSourceReconciler({
      hub: this.#hub,
      sources: caches(gitSourceKind.gvk),
      git: this.#git,
      events: this.#eventsOf(() => HUB),
      objects: new HubObjects(this.#hub, listers),
      inventories: new Inventories(this.#hub, config.namespace),
      installation,
      clock,
      random,
      logger,
    });
    return (key, context) => reconciler.reconcile(key, context);
  }

  /** Which cluster shall have what. */
  #federated(kind: FederatedKind, caches: Caches): Reconcile {
    const reconciler = new FederatedReconciler({
      kind,
      hub: this.#hub,
      objects: caches(kind.federated.gvk),
      members: caches(memberClusterKind.gvk),
      revisions: caches(CONTROLLER_REVISION),
      rows: this.#rows,
      events: this.#eventsOf(() => HUB),
      clock: this.#options.clock,
    });
    return (key, context) => reconciler.reconcile(key, context);
  }

  /** Events are written by the owner of the shard whose worker tells them. */
  #eventsOf(shardOf: (object: KubernetesObject) => string): EventPort {
    return this.#events.guardedBy((object) => this.#shards.guard(shardOf(object))());
  }

  #attach(builder: ControllerBuilder, reconciler?: ControllerOptions['reconciler']): Controller {
    const { clock, logger, metrics } = this.#options;
    const queue = { add: (key: Key, options?: AddOptions) => this.#enqueue(key, options) };
    return builder.attach({ cluster: HUB, informers: this.#factory, queue, reconciler, clock, logger, metrics });
  }

  /** Every replica sees every event; only the owner of the key's shard takes it up. */
  #enqueue(key: Key, options?: AddOptions): void {
    if (this.#shards.holds(key.cluster)) this.#queues.queue(queueOf(key)).add(key, options);
  }

  #updateShards(): void {
    this.#shards.setShards(this.#shardNames());
  }

  #shardNames(): readonly string[] {
    return [HUB, ...this.#informers.members.lister.list().map(({ metadata }) => metadata.name ?? '')];
  }
}
