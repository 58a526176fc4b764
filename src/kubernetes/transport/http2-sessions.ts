import type { Clock, Random } from '../../kernel/index.ts';
import { UnreachableError } from '../api-errors.ts';
import type { Connection } from '../connection/connection.ts';
import { untilAborted } from './deadline.ts';
import { Http2Session, MAX_STREAMS, SessionGoneError } from './http2-session.ts';
import type { OpenedStream, RequestHeaders } from './http2-session.ts';

/** Options of {@link Http2Sessions}. */
export interface Http2SessionsOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: Random;
  /** Called for each connection that was opened, or could not be. */
  readonly onDial: (protocol: 'h2' | 'http/1.1', result: 'success' | 'failure') => void;
}

/** How many sessions a stream tries that turn out to be going away. */
const MAX_ATTEMPTS = 3;

/** As many HTTP/2 sessions to one API server as its streams need: one for every 80. */
export class Http2Sessions {
  readonly #options: Http2SessionsOptions;
  /** Those that take streams. */
  readonly #sessions = new Set<Http2Session>();
  /** Going away, with streams that are still to be moved. */
  readonly #draining = new Set<Http2Session>();
  #limit = MAX_STREAMS;
  #isDestroyed = false;

  constructor(options: Http2SessionsOptions) {
    this.#options = options;
  }

  /**
   * Opens a stream on a session that has room, else on a new one.
   *
   * @returns `undefined` when the server, or a proxy before it, speaks HTTP/1.1 only
   * @throws UnreachableError also after {@link destroy}
   */
  async open(headers: RequestHeaders, signal: AbortSignal): Promise<OpenedStream | undefined> {
    let attempts = 0;
    for (;;) {
      if (this.#isDestroyed) throw new UnreachableError('the connections to this server were given up', 'CLOSED');
      const session = [...this.#sessions].find(({ hasRoom }) => hasRoom) ?? this.#dial();
      const release = session.reserve();
      try {
        if ((await untilAborted(session.ready, signal)) === 'http/1.1') return undefined;
        if (session.isWithinLimit) return await session.open(headers, { signal, onClose: release });
        release();
      } catch (error) {
        release();
        attempts += 1;
        if (!(error instanceof SessionGoneError) || attempts === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Cuts everything, and opens nothing again. */
  destroy(): void {
    this.#isDestroyed = true;
    for (const session of [...this.#sessions, ...this.#draining]) session.destroy();
  }

  #dial(): Http2Session {
    const { connection, clock, random, onDial } = this.#options;
    const session = new Http2Session({
      connection,
      clock,
      random,
      expectedLimit: this.#limit,
      onDraining: () => {
        this.#sessions.delete(session);
        this.#draining.add(session);
      },
      onGone: () => {
        this.#sessions.delete(session);
        this.#draining.delete(session);
      },
    });
    this.#sessions.add(session);
    session.ready.then(
      (protocol) => {
        this.#limit = session.limit;
        onDial(protocol, 'success');
      },
      () => onDial('h2', 'failure'),
    );
    return session;
  }
}
