import type { ConnectionOptions } from 'node:tls';

/** Where Redis is and how keys are named. */
export interface RedisOptions {
  /** redis:// or rediss://, with user and password. Of Sentinel and Cluster, one of their nodes. */
  readonly url: string;
  /** What every key begins with: "atoll". */
  readonly keyPrefix: string;
  /** Accept a Redis without a password: for development only. */
  readonly allowNoPassword: boolean;
  /** One server; a master that Sentinels name; or a Redis Cluster. Default one server. */
  readonly mode?: 'standalone' | 'sentinel' | 'cluster' | undefined;
  /** Further Sentinels or nodes of the Cluster, each as "host:port". */
  readonly nodes?: readonly string[] | undefined;
  /** Of Sentinels: the name of the master, and what they themselves ask for. */
  readonly sentinel?: { readonly master: string; readonly password?: string | undefined } | undefined;
  /** PEM, for rediss://: whom to trust, and who we are where the server asks. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'> | undefined;
}

/** A host and a port. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** What is the same for every node. */
export interface Access {
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly tls?: ConnectionOptions;
}

/** Every node that is named, the URL's first. */
export function endpointsOf({ url, nodes = [] }: RedisOptions): readonly Endpoint[] {
  return [new URL(url).host, ...nodes].map(endpointOf);
}

/** The user, password, database and TLS that the URL says. */
export function accessOf({ url, tls = {} }: RedisOptions): Access {
  const { protocol, username, password, pathname } = new URL(url);
  const db = Number.parseInt(pathname.slice(1), 10);
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(Number.isInteger(db) && { db }),
    ...(protocol === 'rediss:' && { tls }),
  };
}

/** "redis.example:6379", "[::1]:6379"; Redis' own port where none is said. */
function endpointOf(text: string): Endpoint {
  const { hostname, port } = new URL(`redis://${text}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 6379 : Number(port) };
}
