import type { Cancel } from '../../kernel/index.ts';
import { UnreachableError } from '../api-errors.ts';
import type { Connection, ConnectionSource } from '../connection/connection.ts';
import { Transport } from './transport.ts';
import type { TransportOptions } from './transport.ts';

/**
 * The sockets to an API server whose connection may change. With another server, CA, certificate or token come other
 * sockets; what is under way on the old ones ends there, and their watches end as if the server had ended them, so that
 * whoever watches goes on from where it was.
 */
export class Transports {
  readonly #source: ConnectionSource;
  readonly #options: Omit<TransportOptions, 'connection'>;
  readonly #retiring = new Set<Transport>();
  readonly #unsubscribe: Cancel | undefined;
  #connection: Connection;
  #isClosed = false;
  #transport: Transport;

  constructor(source: ConnectionSource, options: Omit<TransportOptions, 'connection'>) {
    this.#source = source;
    this.#options = options;
    this.#connection = source.current();
    this.#transport = new Transport({ ...options, connection: this.#connection });
    this.#unsubscribe = source.onChange?.(() => this.#follow());
  }

  /**
   * The sockets for a connection. One that was replaced since it was asked for has those of its successor.
   *
   * @throws UnreachableError when its successor leads to another server, which must not see these credentials
   */
  for(connection: Connection): Transport {
    this.#follow();
    if (connection.server === this.#connection.server) return this.#transport;
    throw new UnreachableError(`${connection.server} was given up for another server`, 'CONNECTION_REPLACED');
  }

  /** Cuts everything. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe?.();
    await Promise.all([this.#transport, ...this.#retiring].map((transport) => transport.close()));
  }

  #follow(): void {
    const connection = this.#source.current();
    if (connection === this.#connection || this.#isClosed) return;
    const former = this.#transport;
    this.#transport = new Transport({ ...this.#options, connection });
    this.#connection = connection;
    void this.#retire(former);
  }

  async #retire(transport: Transport): Promise<void> {
    this.#retiring.add(transport);
    await transport.retire();
    this.#retiring.delete(transport);
  }
}
