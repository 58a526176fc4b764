import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Logger } from '../../kernel/index.ts';
import type { Connection, ConnectionSource } from './connection.ts';

/** Where the kubelet puts what a pod needs to reach its own API server. */
export interface InClusterOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`. */
  readonly host: string;
  readonly port: string;
  /** Default `/var/run/secrets/kubernetes.io/serviceaccount`. */
  readonly directory?: string;
}

const DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/** As client-go: the kubelet renews the files long before what is in them ends. Milliseconds. */
const FILE_AGE = 60_000;

/**
 * The connection of a pod to its own API server. Its files are read again when what was read is a minute old, and when the
 * server does not accept the token. Files that cannot be read then leave what was read before.
 *
 * Another token is used by the next request; another CA makes another connection.
 */
export class InClusterConnection implements ConnectionSource {
  readonly #options: InClusterOptions;
  readonly #server: string;
  #token = '';
  #connection: Connection;
  #readAt: number;

  private constructor(options: InClusterOptions) {
    const host = options.host.includes(':') ? `[${options.host}]` : options.host;
    this.#options = options;
    this.#server = `https://${host}:${options.port}`;
    this.#connection = { server: this.#server };
    this.#readAt = options.clock.monotonic();
  }

  /** @throws when the files are not there: this is no pod, or it mounts no token */
  static open(options: InClusterOptions): InClusterConnection {
    const connection = new InClusterConnection(options);
    connection.#read();
    return connection;
  }

  current(): Connection {
    const now = this.#options.clock.monotonic();
    if (now - this.#readAt >= FILE_AGE) {
      this.#readAt = now;
      try {
        this.#read();
      } catch (error) {
        this.#options.logger.warn('the files of the service account cannot be read', { error });
      }
    }
    return this.#connection;
  }

  /** @throws when the files cannot be read */
  async refresh(): Promise<void> {
    this.#read();
    this.#readAt = this.#options.clock.monotonic();
  }

  #read(): void {
    const directory = this.#options.directory ?? DIRECTORY;
    const caData = readFileSync(join(directory, 'ca.crt'), 'utf8');
    this.#token = readFileSync(join(directory, 'token'), 'utf8').trim();
    if (caData === this.#connection.caData) return;
    this.#connection = { server: this.#server, caData, token: () => this.#token };
  }
}
