import type { Cancel } from '../kernel/index.ts';
import type { Connection, ConnectionSource } from '../kubernetes/index.ts';
import type { FoundConnection } from './connection.ts';

/** Options of {@link MemberConnection}. */
export interface MemberConnectionOptions {
  readonly found: FoundConnection;
  /** Reads the Secret from the hub itself. */
  readonly readAnew: () => Promise<FoundConnection>;
  /** Throws unless the cluster that is reached so is the member. */
  readonly verify: (connection: Connection) => Promise<void>;
}

/**
 * How a member that is engaged is reached: by what its Secret held when it was engaged, then by what the Secret holds now.
 * Nothing is sent with changed credentials, but the question who the cluster is, before that question has its answer.
 */
export class MemberConnection implements ConnectionSource {
  readonly #options: MemberConnectionOptions;
  readonly #changed = new Set<() => void>();
  #found: FoundConnection;

  constructor(options: MemberConnectionOptions) {
    this.#options = options;
    this.#found = options.found;
  }

  /** Of the Secret's content that is used now. */
  get fingerprint(): string {
    return this.#found.fingerprint;
  }

  current(): Connection {
    return this.#found.connection;
  }

  onChange(callback: () => void): Cancel {
    this.#changed.add(callback);
    return () => void this.#changed.delete(callback);
  }

  /** Whether this is the same API server by its address, so that only CA or credentials differ. */
  isSameServer(found: FoundConnection): boolean {
    return found.connection.server === this.#found.connection.server;
  }

  /** Goes over to other credentials. What is known of the member's objects stays. @throws what `verify` throws */
  async adopt(found: FoundConnection): Promise<void> {
    await this.#options.verify(found.connection);
    this.#found = found;
    for (const callback of this.#changed) callback();
  }

  /** The member answered 401: perhaps the Secret was changed a moment ago. Another server is left to the next look. */
  async refresh(): Promise<void> {
    const found = await this.#options.readAnew();
    if (found.fingerprint !== this.#found.fingerprint && this.isSameServer(found)) await this.adopt(found);
  }
}
