import type { Cancel } from '../kernel/index.ts';
import type { Connection, ConnectionSource } from './connection.ts';
import { Transport } from './transport.ts';
import type { TransportOptions } from './transport.ts';

/**
 * The sockets to an API server whose connection may change. With another server, CA, certificate or token come other
 * sockets; what is under way on the old ones ends there, and their watches end as if the server had ended them, so that
 * whoever watches goes on from where it was.
 */
export class Transports {
  readonly #options: Omit<TransportOptions, 'connection'>;
  readonly #retiring = new Set<Transport>();
  readonly #unsubscribe: Cancel | undefined;
  #connection: Connection;
  #transport: Transport;

  constructor(source: ConnectionSource, options: Omit<TransportOptions, 'connection'>) {
    this.#options = options;
    this.#connection = source.current();
    this.#transport = new Transport({ ...options, connection: this.#connection });
    this.#unsubscribe = source.onChange?.(() => void this.for(source.current()));
  }

  /** The sockets for a connection, which is the source's current one. */
  for(connection: Connection): Transport {
    if (connection === this.#connection) return this.#transport;
    const former = this.#transport;
    this.#transport = new Transport({ ...this.#options, connection });
    this.#connection = connection;
    this.#retiring.add(former);
    void former.retire().finally(() => this.#retiring.delete(former));
    return this.#transport;
  }

  /** Cuts everything. */
  async close(): Promise<void> {
    this.#unsubscribe?.();
    await Promise.all([this.#transport, ...this.#retiring].map((transport) => transport.close()));
  }
}
