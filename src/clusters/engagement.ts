import { SharedInformerFactory } from '../informers/index.ts';
import type { SharedInformerFactoryOptions } from '../informers/index.ts';
import { AtollError, WaitingError } from '../kernel/index.ts';
import type { Clock, ClusterName, KubernetesObject, Logger, Metrics, Random } from '../kernel/index.ts';
import { CORE, KubernetesClient, writeAs } from '../kubernetes/index.ts';
import type { Connection, KubernetesClientOptions, RequestLimits } from '../kubernetes/index.ts';
import type { Cluster, Wire, Wiring } from './cluster.ts';
import type { FoundConnection } from './connection.ts';
import { raiseFence } from './fence.ts';
import type { FenceRequest } from './fence.ts';
import type { MemberAccount } from './member-account.ts';
import { installCrds } from './install-crds.ts';
import { MemberConnection } from './member-connection.ts';

/** Another cluster answers under the recorded one's name or credentials. Nothing was written to it. */
export class IdentityChangedError extends AtollError {
  override name = 'IdentityChangedError';
}

const SYNC_TIMEOUT = 30_000;
/** Members that are engaged at once, when a replica starts, are not all listed in the same moment. */
const START_JITTER = 500;
/** A watch that is silent for 90 s is opened anew; a minute more is for that to succeed. */
const STALE_AFTER = 150_000;

/** The cluster answers, but what is known of its objects is old. */
export class NotWatchedError extends AtollError {
  override name = 'NotWatchedError';
}

/** What every engagement needs, whichever the member. */
export interface EngagementOptions {
  readonly wire: Wire;
  /** CustomResourceDefinitions that the members shall serve. */
  readonly definitions: readonly KubernetesObject[];
  /** What the informers of all clusters of this process have in common. */
  readonly informers?: Pick<SharedInformerFactoryOptions, 'listLimit' | 'transform'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Of a run, what its writes need. */
type Run = FenceRequest['run'];

/** What is known of a member before it is engaged. */
export interface EngagementRequest {
  readonly name: ClusterName;
  readonly found: FoundConnection;
  /** UID recorded at the first engagement; undefined before it. */
  readonly recordedUid: string | undefined;
  readonly installCrds: boolean;
  /** How much of its API server may be taken, as the MemberCluster says now. */
  readonly limits: () => RequestLimits;
  /** Reads the member's Secret from the hub itself. */
  readonly readAnew: () => Promise<FoundConnection>;
  /** Throws when the cluster, once it has said who it is, is not to be worked under this name. */
  readonly admit: (seen: SeenCluster) => void;
  /** Of this replica's tenure with the member's shard. */
  readonly epoch: number;
  /** Atoll's own account in the member. */
  readonly account: MemberAccount;
  /** The run that engages. */
  readonly run: Run;
}

/** Who a cluster is, by its own account. */
export interface SeenCluster {
  /** UID of its `kube-system` namespace. */
  readonly uid: string;
  /** The API server's `gitVersion`, "v1.37.2". */
  readonly version: string;
}

/** What an engagement is made of. */
interface EngagementParts {
  readonly cluster: Cluster;
  readonly connection: MemberConnection;
  readonly wiring: Wiring;
  readonly seen: SeenCluster;
  readonly tenure: Omit<FenceRequest, 'run'>;
}

/** An open connection to one member with its informers and what is wired to them. */
export class Engagement {
  readonly cluster: Cluster;
  readonly wiring: Wiring;
  /** Who the cluster was when it was engaged. */
  readonly seen: SeenCluster;
  readonly #connection: MemberConnection;
  readonly #tenure: Omit<FenceRequest, 'run'>;

  private constructor({ cluster, connection, wiring, seen, tenure }: EngagementParts) {
    this.cluster = cluster;
    this.wiring = wiring;
    this.seen = seen;
    this.#connection = connection;
    this.#tenure = tenure;
  }

  /**
   * Connects, checks that it is the same cluster as before, raises its fence, brings the CRDs, starts the informers and
   * waits for them.
   * Leaves nothing open when it fails.
   * @throws UnreachableError, UnauthorizedError, ForbiddenError as the API server answers; IdentityChangedError;
   *   what `admit` throws; FencedOffError; WaitingError when CRDs or informers take too long
   */
  static async open(request: EngagementRequest, options: EngagementOptions): Promise<Engagement> {
    const { clock, random, logger, metrics } = options;
    const { name, found, readAnew, limits } = request;
    const ports = { clock, random, metrics, logger: logger.child({ cluster: name }) };
    let uid = request.recordedUid;
    const verify = async (candidate: Connection): Promise<void> => {
      request.admit(await identifyBy(candidate, uid, { cluster: name, ...ports }));
    };
    const connection = new MemberConnection({ found, readAnew, verify });
    const client = new KubernetesClient({ cluster: name, connection, limits, ...ports });
    const informers = new SharedInformerFactory({ client, ...ports, startJitter: START_JITTER, ...options.informers });
    let wiring: Wiring | undefined;
    try {
      const seen = await identify(client, uid);
      request.admit(seen);
      ({ uid } = seen);
      const { epoch, account, run } = request;
      const tenure = { client, account, epoch };
      if (await raiseFence({ ...tenure, run })) ports.logger.info('the member is fenced', { epoch });
      if (request.installCrds) await installCrds(client, options.definitions, writeAs('atoll-crds', run), clock);
      const cluster: Cluster = { name, client, informers, uid: seen.uid };
      wiring = options.wire(cluster);
      informers.start();
      await waitForSync(informers, request, clock);
      return new Engagement({ cluster, connection, wiring, seen, tenure });
    } catch (error) {
      wiring?.detach();
      await informers.stop();
      await client.close();
      throw error;
    }
  }

  /** Whether this is what the member is reached by already. */
  isConnectedBy({ fingerprint }: FoundConnection): boolean {
    return fingerprint === this.#connection.fingerprint;
  }

  /** Whether only CA or credentials are others, so that {@link renew} will do. */
  canRenew(found: FoundConnection): boolean {
    return this.#connection.isSameServer(found);
  }

  /**
   * Goes over to other credentials for the same server, once the cluster has said with them that it is this member. The
   * informers keep what they have; their watches go on under the new credentials.
   * @throws as {@link open}; then the former credentials stay
   */
  async renew(found: FoundConnection): Promise<void> {
    await this.#connection.adopt(found);
  }

  /** Whether the cluster serves every kind that is worked with in it, as far as is known. */
  get isServed(): boolean {
    return this.cluster.informers.unserved().length === 0;
  }

  /**
   * Asks the cluster who it is, which also tells that it can be reached and lets us in, and follows a fence that was put up or
   * taken away: three requests.
   * @throws FencedOffError; NotWatchedError when it answers, and yet an informer has heard nothing for long
   */
  async look(run: Run): Promise<SeenCluster> {
    const seen = await identify(this.cluster.client, this.cluster.uid);
    await raiseFence({ ...this.#tenure, run });
    if (this.cluster.informers.staleness() > STALE_AFTER) {
      throw new NotWatchedError(`an informer has heard nothing for more than ${STALE_AFTER / 1000} s`);
    }
    return seen;
  }

  /** Stops the informers and closes every connection. */
  async close(): Promise<void> {
    this.wiring.detach();
    await this.cluster.informers.stop();
    await this.cluster.client.close();
  }
}

/** Asks who is there over sockets of their own, which are closed again. */
async function identifyBy(
  connection: Connection,
  recorded: string | undefined,
  options: Omit<KubernetesClientOptions, 'connection'>,
): Promise<SeenCluster> {
  const client = new KubernetesClient({ ...options, connection });
  try {
    return await identify(client, recorded);
  } finally {
    await client.close();
  }
}

/** The UID of `kube-system`; there is one in every cluster, and it changes only with the cluster. */
async function identify(client: KubernetesClient, recorded: string | undefined): Promise<SeenCluster> {
  const { gitVersion: version } = await client.version();
  const uid = (await client.get({ gvk: CORE.Namespace, name: 'kube-system' }))?.metadata.uid;
  if (uid === undefined) throw new WaitingError('the cluster has no kube-system namespace yet');
  if (recorded !== undefined && recorded !== uid) {
    throw new IdentityChangedError(`the kube-system UID was ${recorded} and is now ${uid}: this is another cluster`);
  }
  return { uid, version };
}

async function waitForSync(
  informers: SharedInformerFactory,
  { name, run }: EngagementRequest,
  clock: Clock,
): Promise<void> {
  const end = new AbortController();
  const cancel = clock.after(SYNC_TIMEOUT, () => end.abort());
  const signals = run.signal === undefined ? [end.signal] : [end.signal, run.signal];
  const synced = await informers.waitForSync(AbortSignal.any(signals));
  cancel();
  if (!synced) throw new WaitingError(`the informers of ${name} did not sync within ${SYNC_TIMEOUT / 1000} s`);
}
