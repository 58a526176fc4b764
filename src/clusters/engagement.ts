import { SharedInformerFactory } from '../informers/index.ts';
import { AtollError, WaitingError } from '../kernel/index.ts';
import type { Clock, ClusterName, KubernetesObject, Logger, Metrics, Random } from '../kernel/index.ts';
import { KubernetesClient } from '../kubernetes/index.ts';
import type { WriteContext } from '../kubernetes/index.ts';
import type { Cluster, Wire, Wiring } from './cluster.ts';
import type { FoundConnection } from './connection.ts';
import { installCrds } from './install-crds.ts';

/** Another cluster answers under the recorded one's name or credentials. Nothing was written to it. */
export class IdentityChangedError extends AtollError {
  override name = 'IdentityChangedError';
}

const NAMESPACE = { group: '', version: 'v1', kind: 'Namespace' };
const SYNC_TIMEOUT = 30_000;

/** What every engagement needs, whichever the member. */
export interface EngagementOptions {
  readonly wire: Wire;
  /** CustomResourceDefinitions that the members shall serve. */
  readonly definitions: readonly KubernetesObject[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** What is known of a member before it is engaged. */
export interface EngagementRequest {
  readonly name: ClusterName;
  readonly found: FoundConnection;
  /** UID recorded at the first engagement; undefined before it. */
  readonly recordedUid: string | undefined;
  readonly installCrds: boolean;
  readonly write: WriteContext;
}

/** An open connection to one member with its informers and what is wired to them. */
export class Engagement {
  readonly cluster: Cluster;
  readonly fingerprint: string;
  readonly wiring: Wiring;

  private constructor(cluster: Cluster, fingerprint: string, wiring: Wiring) {
    this.cluster = cluster;
    this.fingerprint = fingerprint;
    this.wiring = wiring;
  }

  /**
   * Connects, checks that it is the same cluster as before, brings the CRDs, starts the informers and waits for them.
   * Leaves nothing open when it fails.
   * @throws UnreachableError, UnauthorizedError, ForbiddenError as the API server answers; IdentityChangedError;
   *   WaitingError when CRDs or informers take too long
   */
  static async open(request: EngagementRequest, options: EngagementOptions): Promise<Engagement> {
    const { clock, random, logger, metrics } = options;
    const ports = { clock, random, metrics, logger: logger.child({ cluster: request.name }) };
    const client = new KubernetesClient({ cluster: request.name, connection: request.found.connection, ...ports });
    const informers = new SharedInformerFactory({ client, ...ports });
    try {
      const { gitVersion: version } = await client.version();
      const uid = await identify(client, request.recordedUid);
      if (request.installCrds) await installCrds(client, options.definitions, request.write, clock);
      const cluster: Cluster = { name: request.name, client, informers, uid, version };
      const wiring = options.wire(cluster);
      informers.start();
      await waitForSync(informers, request.name);
      return new Engagement(cluster, request.found.fingerprint, wiring);
    } catch (error) {
      await informers.stop();
      await client.close();
      throw error;
    }
  }

  /** Stops the informers and closes every connection. */
  async close(): Promise<void> {
    this.wiring.detach();
    await this.cluster.informers.stop();
    await this.cluster.client.close();
  }
}

/** The UID of `kube-system`; there is one in every cluster, and it changes only with the cluster. */
async function identify(client: KubernetesClient, recorded: string | undefined): Promise<string> {
  const uid = (await client.get({ gvk: NAMESPACE, name: 'kube-system' }))?.metadata.uid;
  if (uid === undefined) throw new WaitingError('the cluster has no kube-system namespace yet');
  if (recorded !== undefined && recorded !== uid) {
    throw new IdentityChangedError(`the kube-system UID was ${recorded} and is now ${uid}: this is another cluster`);
  }
  return uid;
}

async function waitForSync(informers: SharedInformerFactory, name: ClusterName): Promise<void> {
  const synced = await informers.waitForSync(AbortSignal.timeout(SYNC_TIMEOUT));
  if (!synced) throw new WaitingError(`the informers of ${name} did not sync within ${SYNC_TIMEOUT / 1000} s`);
}
