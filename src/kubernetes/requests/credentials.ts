import { Backoff } from '../../kernel/index.ts';
import type { Clock, Logger, Random } from '../../kernel/index.ts';
import { UnreachableError } from '../api-errors.ts';
import type { Connection, ConnectionSource } from '../connection/connection.ts';
import type { Answer } from '../transport/exchange.ts';

/** What a request was sent with. */
export interface Credentials {
  readonly connection: Connection;
  readonly token: string | undefined;
}

/** Options of {@link CredentialStore}. */
export interface CredentialStoreOptions {
  readonly source: ConnectionSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** A source is asked to read anew at most this often, milliseconds, however many requests are refused. */
const MIN_REFRESH_INTERVAL = 10_000;

/** How long refused credentials are not tried again: to a server that guards itself, each try is an attack. */
const REFUSAL = { base: 1000, max: 30_000, factor: 2 };

/**
 * The credentials that requests are sent with, and what a 401 does to them: the source reads them anew, once for all who
 * were refused. Credentials that stay refused are tried again after 1 s, later after 30 s; until then the server's own
 * 401 is answered in its place.
 */
export class CredentialStore {
  readonly #source: ConnectionSource;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #backoff: Backoff;
  #refreshing: Promise<void> | undefined;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #refused: { readonly credentials: Credentials; readonly answer: Answer; readonly until: number } | undefined;

  constructor({ source, clock, random, logger }: CredentialStoreOptions) {
    this.#source = source;
    this.#clock = clock;
    this.#logger = logger;
    this.#backoff = new Backoff(REFUSAL, random);
  }

  /** What to send a request with now. A promise only where the token is one. @throws UnreachableError without any */
  current(): Credentials | Promise<Credentials> {
    try {
      const connection = this.#source.current();
      const token = typeof connection.token === 'function' ? connection.token() : connection.token;
      if (!(token instanceof Promise)) return { connection, token };
      return token.then(
        (value) => ({ connection, token: value }),
        (error: unknown) => Promise.reject(unreadable(error)),
      );
    } catch (error) {
      throw unreadable(error);
    }
  }

  /** The 401 that these credentials got and that would be got again. */
  refusalOf(credentials: Credentials): Answer | undefined {
    if (this.#refused === undefined || !isSame(this.#refused.credentials, credentials)) return undefined;
    return this.#clock.monotonic() < this.#refused.until ? this.#refused.answer : undefined;
  }

  /** The server let these credentials in. */
  accepted(): void {
    if (this.#refused === undefined) return;
    this.#refused = undefined;
    this.#backoff.reset();
  }

  /** The server answered 401. Resolves with whether there are other credentials now, with which to try again. */
  async refused(credentials: Credentials, answer: Answer): Promise<boolean> {
    if (!isSame(await this.current(), credentials)) return true;
    await this.#refresh();
    if (!isSame(await this.current(), credentials)) return true;
    const now = this.#clock.monotonic();
    if (this.#refused === undefined || now >= this.#refused.until) {
      this.#refused = { credentials, answer, until: now + this.#backoff.next() };
    }
    return false;
  }

  async #refresh(): Promise<void> {
    if (this.#source.refresh === undefined) return;
    if (this.#refreshing === undefined) {
      if (this.#clock.monotonic() - this.#refreshedAt < MIN_REFRESH_INTERVAL) return;
      this.#refreshedAt = this.#clock.monotonic();
      this.#refreshing = this.#source
        .refresh()
        .catch((error: unknown) => this.#logger.warn('credentials could not be read anew', { error }))
        .finally(() => {
          this.#refreshing = undefined;
        });
    }
    await this.#refreshing;
  }
}

/** Without credentials nothing can be sent. What the source says may hold them: it is the cause, not the message. */
function unreadable(cause: unknown): UnreachableError {
  return new UnreachableError('the credentials could not be read', 'NO_CREDENTIALS', { cause });
}

function isSame(one: Credentials, other: Credentials): boolean {
  return one.connection === other.connection && one.token === other.token;
}
