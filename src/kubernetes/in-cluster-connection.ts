import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../kernel/index.ts';
import type { Connection, TokenProvider } from './connection.ts';

/** Where the kubelet puts what a pod needs to reach its own API server. */
export interface InClusterOptions {
  readonly clock: Clock;
  /** `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`. */
  readonly host: string;
  readonly port: string;
  /** Default `/var/run/secrets/kubernetes.io/serviceaccount`. */
  readonly directory?: string;
}

const DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/** As client-go: the kubelet renews the file long before the token in it ends. */
const TOKEN_AGE = 60_000;

/**
 * The connection of a pod to its own API server. The token file is read again when what was read is a minute old.
 *
 * @throws when the files are not there: this is no pod, or it mounts no token
 */
export function inClusterConnection(options: InClusterOptions): Connection {
  const directory = options.directory ?? DIRECTORY;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    server: `https://${host}:${options.port}`,
    caData: readFileSync(join(directory, 'ca.crt'), 'utf8'),
    token: tokenFile(join(directory, 'token'), options.clock),
  };
}

function tokenFile(path: string, clock: Clock): TokenProvider {
  const read = (): string => readFileSync(path, 'utf8').trim();
  let token = read();
  let readAt = clock.monotonic();
  return () => {
    if (clock.monotonic() - readAt >= TOKEN_AGE) {
      token = read();
      readAt = clock.monotonic();
    }
    return token;
  };
}
