import { Cluster, Redis as Server } from 'ioredis';
import type { RedisOptions as AllClientOptions } from 'ioredis';
import { AtollError, errorMessage } from '../kernel/index.ts';
import type { Gauge, Logger, Metrics } from '../kernel/index.ts';
import { checkedConnector, checkedSentinelConnector, refusingConnector } from './checked-connector.ts';
import { accessOf, endpointsOf } from './redis-options.ts';
import type { RedisOptions } from './redis-options.ts';
import { refuseUrl } from './server-check.ts';

/** A client of one server (also of one that Sentinels name), or of a Cluster. */
export type Redis = Server | Cluster;

/** Without the option that chooses the client's type. */
type ClientOptions = Omit<AllClientOptions, 'replyMapping'>;

type Kind = 'lease' | 'producer' | 'blocking';

/** READONLY: the master became a replica; UNBLOCKED: the same, told to a blocking read. A new connection finds the new master. */
const failedOver = /^(READONLY|UNBLOCKED)/;

/** A Sentinel that hangs must not keep its neighbour from being asked. */
const SENTINEL_TIMEOUT = 1000;
/** A slot that moved is also found by the answer to a command; this finds a new node before. */
const SLOTS_REFRESH_INTERVAL = 5000;

/** 100, 200, 400, 800, 1000, 1000, … ms */
function retryStrategy(attempt: number): number {
  return Math.min(50 * 2 ** Math.min(attempt, 10), 1000);
}

const shared: ClientOptions = {
  connectTimeout: 5000,
  keepAlive: 10_000,
  retryStrategy,
};

const failFast: ClientOptions = {
  ...shared,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  autoResendUnfulfilledCommands: false,
  reconnectOnError: (error) => failedOver.test(error.message),
};

/** Why each kind has its options: `index.ts`. */
const optionsOf: Readonly<Record<Kind, ClientOptions>> = {
  lease: { ...failFast, commandTimeout: 1500 },
  producer: { ...failFast, commandTimeout: 2000 },
  blocking: {
    ...shared,
    maxRetriesPerRequest: null,
    reconnectOnError: (error) => (failedOver.test(error.message) ? 2 : false),
  },
};

/** The connections of one replica to its Redis, each opened when it is first asked for. */
export class RedisConnections {
  readonly prefix: string;
  readonly #options: RedisOptions;
  readonly #logger: Logger;
  readonly #connected: Gauge;
  readonly #clients = new Map<Kind, Redis>();
  readonly #readyCallbacks: (() => void)[] = [];
  #lastError: string | undefined;
  #closed = false;

  constructor(options: RedisOptions & { readonly logger: Logger; readonly metrics: Metrics }) {
    this.prefix = options.keyPrefix;
    this.#options = options;
    this.#logger = options.logger;
    this.#connected = options.metrics.gauge({
      name: 'atoll_redis_connected',
      help: 'Whether the connection to Redis is ready (1) or not (0)',
      labelNames: ['connection'],
    });
  }

  /** Whether keys lie on several servers, of which each may lose its own. */
  get isCluster(): boolean {
    return this.#options.mode === 'cluster';
  }

  /** For leases: a command is answered within 1.5 s, or rejects; nothing is sent later than it was asked for. */
  lease(): Redis {
    return this.#client('lease');
  }

  /** For ordinary commands: answered within 2 s, or rejects; the caller keeps what it could not write. */
  producer(): Redis {
    return this.#client('producer');
  }

  /** What workers share for their commands, and duplicate for their blocking reads: waits until Redis is there. */
  blocking(): Redis {
    return this.#client('blocking');
  }

  /** Calls back each time the producer connection becomes usable, and soon when it is usable now. */
  onReady(callback: () => void): void {
    this.#readyCallbacks.push(callback);
    if (this.#clients.get('producer')?.status === 'ready') queueMicrotask(callback);
  }

  /** Whether every connection that is in use can be used; false before the first one. */
  healthy(): boolean {
    const clients = [...this.#clients.values()];
    return clients.length > 0 && clients.every((client) => client.status === 'ready');
  }

  /** Why Redis is not usable, or the last error since it was; undefined while all is well. */
  lastError(): string | undefined {
    return this.#lastError;
  }

  /** Closes every connection at once; commands that are under way reject. Never waits for Redis. */
  close(): Promise<void> {
    this.#closed = true;
    for (const client of this.#clients.values()) client.disconnect();
    return Promise.resolve();
  }

  #client(kind: Kind): Redis {
    const existing = this.#clients.get(kind);
    if (existing !== undefined) return existing;
    if (this.#closed) throw new AtollError('the connections to Redis are closed');
    const client = this.#open(kind);
    // Every queue and worker listens to the shared clients.
    client.setMaxListeners(0);
    client.on('error', (error) => this.#failed(kind, errorMessage(error)));
    client.on('close', () => this.#connected.set({ connection: kind }, 0));
    client.on('ready', () => this.#ready(kind));
    this.#connected.set({ connection: kind }, 0);
    this.#clients.set(kind, client);
    return client;
  }

  #open(kind: Kind): Redis {
    const { url, allowNoPassword, mode = 'standalone' } = this.#options;
    const refusal = refuseUrl(url, allowNoPassword);
    if (refusal !== undefined) return new Server({ ...optionsOf[kind], Connector: refusingConnector(refusal) });
    const check = { allowReplica: mode === 'cluster', onRefused: (reason: string) => this.#failed(kind, reason) };
    const options: ClientOptions = { ...optionsOf[kind], ...accessOf(this.#options) };
    if (mode === 'cluster') return this.#openCluster({ ...options, Connector: checkedConnector(check) });
    if (mode === 'sentinel') return this.#openSentinel({ ...options, Connector: checkedSentinelConnector(check) });
    return new Server({ ...options, ...endpointsOf(this.#options)[0], Connector: checkedConnector(check) });
  }

  #openSentinel(options: ClientOptions): Server {
    const { master = 'mymaster', password } = this.#options.sentinel ?? {};
    const { tls } = options;
    return new Server({
      ...options,
      sentinels: [...endpointsOf(this.#options)],
      name: master,
      ...(password !== undefined && { sentinelPassword: password }),
      ...(tls !== undefined && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
      sentinelRetryStrategy: retryStrategy,
      sentinelCommandTimeout: SENTINEL_TIMEOUT,
    });
  }

  #openCluster(options: ClientOptions): Cluster {
    return new Cluster([...endpointsOf(this.#options)], {
      redisOptions: options,
      enableOfflineQueue: options.enableOfflineQueue ?? true,
      clusterRetryStrategy: retryStrategy,
      retryDelayOnFailover: 100,
      slotsRefreshInterval: SLOTS_REFRESH_INTERVAL,
    });
  }

  /** Keeps the error, and logs it once: a Redis that is down repeats itself every second on every connection. */
  #failed(kind: Kind, message: string): void {
    if (this.#closed || message === this.#lastError) return;
    this.#lastError = message;
    this.#logger.warn('redis is not usable', { connection: kind, error: message });
  }

  #ready(kind: Kind): void {
    this.#connected.set({ connection: kind }, 1);
    if (this.#lastError !== undefined && this.healthy()) {
      this.#lastError = undefined;
      this.#logger.info('redis is usable again');
    }
    if (kind === 'producer') for (const callback of this.#readyCallbacks) callback();
  }
}
