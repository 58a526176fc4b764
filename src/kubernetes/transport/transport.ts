import { buildConnector, Pool } from 'undici';
import type { Dispatcher } from 'undici';
import type { Clock, Random } from '../../kernel/index.ts';
import { UnreachableError } from '../api-errors.ts';
import type { Connection } from '../connection/connection.ts';
import { Deadline } from './deadline.ts';
import { EndableBody } from './endable-body.ts';
import { describeRequest, headOf, isRedirect, limited, readText, redirectRefused, translate } from './exchange.ts';
import type { Answer, StreamedAnswer, TransportRequest } from './exchange.ts';
import type { OpenedStream } from './http2-session.ts';
import { Http2Sessions } from './http2-sessions.ts';
import { CONNECT_TIMEOUT, TCP_KEEP_ALIVE, tlsOptions } from './tls-options.ts';
import { UnsendableError } from '../unsendable-error.ts';

/** A streamed answer of which one knows when it is over. */
export interface ListAnswer extends StreamedAnswer {
  readonly closed: Promise<void>;
}

/** Options of {@link Transport}. */
export interface TransportOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: Random;
  /** Called for each connection that was opened, or could not be. */
  readonly onDial: (protocol: 'h2' | 'http/1.1', result: 'success' | 'failure') => void;
}

/** An API server closes a connection that is idle for 90 s; ours go before, so that none is reset in use. */
const KEEP_ALIVE = 60_000;

/** Watches of a connection that was replaced are ended within this time, not all at once. Milliseconds. */
const CUT_WITHIN = 2000;

/**
 * The sockets to one API server. Requests and lists go over HTTP/1.1 with keep-alive, each on a socket of its own, so that
 * none waits behind another's bytes. Watches share HTTP/2 connections, 80 on each, or have an HTTP/1.1 socket each when
 * the server speaks nothing else. Nothing is followed, nothing is repeated, nothing is decoded here.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #sessions: Http2Sessions;
  readonly #watching = new Set<EndableBody>();
  /** Replaced, with requests that are still under way. */
  readonly #closing = new Set<Pool>();
  #requests: Pool;
  #http1Watches: Pool | undefined;

  constructor(options: TransportOptions) {
    const url = new URL(options.connection.server);
    if (url.protocol !== 'https:') throw new UnsendableError(`${url.origin}: an API server is reached by https only`);
    this.#options = options;
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#sessions = new Http2Sessions(options);
    this.#requests = this.#openPool();
  }

  /**
   * Sends a request and reads the whole answer. The bytes are handed over before this returns its promise. How many
   * requests there are at a time, and with them how many sockets, is the caller's to bound.
   *
   * @throws UnreachableError without an answer, UnexpectedAnswerError for a redirect or too large an answer, and the
   * signal's reason when it aborts
   */
  async request(request: TransportRequest): Promise<Answer> {
    const deadline = this.#deadline(request);
    const pool = this.#requests;
    try {
      const response = await this.#dispatch(pool, request, deadline.signal);
      const text = await readText(response.body, request);
      return { ...headOf(response.statusCode, response.headers), text };
    } catch (error) {
      throw this.#noted(translate(error, request, deadline.signal), pool);
    } finally {
      deadline.cancel();
    }
  }

  /**
   * Sends a request whose answer is read piece by piece. Ending the iteration, or the signal, cuts it. `closed` resolves
   * when the body has been read or cut.
   */
  async list(request: TransportRequest): Promise<ListAnswer> {
    const deadline = this.#deadline(request);
    const pool = this.#requests;
    try {
      const { statusCode: status, headers, body } = await this.#dispatch(pool, request, deadline.signal);
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      body.once('close', resolve);
      const paced = this.#paced(body, request, deadline);
      return { ...(await this.#streamed(request, deadline, { status, headers, body: paced })), closed };
    } catch (error) {
      throw this.#noted(translate(error, request, deadline.signal), pool);
    } finally {
      deadline.cancel();
    }
  }

  /** Opens a watch. Ending the iteration, or the signal, cuts it; so does the server, which looks like a normal end. */
  async watch(request: TransportRequest): Promise<StreamedAnswer> {
    const deadline = this.#deadline(request);
    try {
      const opened = await this.#openWatch(request, deadline.signal);
      if (isRedirect(opened.status)) {
        opened.body.end();
        throw redirectRefused(opened.status, request);
      }
      this.#watching.add(opened.body);
      opened.body.onClose(() => void this.#watching.delete(opened.body));
      return await this.#streamed(request, deadline, opened);
    } catch (error) {
      throw translate(error, request, deadline.signal);
    } finally {
      deadline.cancel();
    }
  }

  /** Lets requests end and ends watches, as if the server did: another transport has taken over. */
  async retire(): Promise<void> {
    const { clock, random } = this.#options;
    for (const body of this.#watching) clock.after(random() * CUT_WITHIN, () => body.end());
    clock.after(CUT_WITHIN, () => {
      this.#sessions.destroy();
      void this.#http1Watches?.destroy();
    });
    await this.#requests.close();
  }

  /** Cuts all connections: what is under way fails. */
  async close(): Promise<void> {
    this.#sessions.destroy();
    const pools = [this.#requests, ...this.#closing, ...(this.#http1Watches ? [this.#http1Watches] : [])];
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #deadline(request: TransportRequest): Deadline {
    const { timeout: milliseconds, signal } = request;
    return new Deadline(this.#options.clock, { milliseconds, what: describeRequest(request), signal });
  }

  async #streamed(request: TransportRequest, deadline: Deadline, opened: Streaming): Promise<StreamedAnswer> {
    const head = headOf(opened.status, opened.headers);
    const chunks = translated(opened.body, request, deadline.signal);
    const text = opened.status === 200 ? '' : await readText(chunks, request);
    return { ...head, text, chunks };
  }

  async #openWatch(request: TransportRequest, signal: AbortSignal): Promise<OpenedStream> {
    if (this.#http1Watches === undefined) {
      const path = this.#prefix + request.path;
      const headers = { ...request.headers, ':method': request.method, ':path': path };
      const opened = await this.#sessions.open(headers, signal);
      if (opened !== undefined) return opened;
      this.#http1Watches ??= this.#openPool();
    }
    const response = await this.#dispatch(this.#http1Watches, request, signal);
    return { status: response.statusCode, headers: response.headers, body: new EndableBody(response.body) };
  }

  async #dispatch(pool: Pool, request: TransportRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const response = await pool.request({
      method: request.method,
      path: this.#prefix + request.path,
      headers: request.headers,
      body: request.body ?? null,
      signal,
    });
    if (!isRedirect(response.statusCode)) return response;
    await response.body.dump();
    throw redirectRefused(response.statusCode, request);
  }

  /** The body of a list: each piece has the request's time-out, so that a slow reader is not taken for a slow server. */
  async *#paced(
    body: AsyncIterable<Buffer>,
    request: TransportRequest,
    deadline: Deadline,
  ): AsyncGenerator<Buffer, void> {
    deadline.restart();
    try {
      for await (const chunk of limited(body, request)) {
        deadline.cancel();
        yield chunk;
        deadline.restart();
      }
    } finally {
      deadline.cancel();
    }
  }

  /**
   * A request that was not answered in time may have met a connection that is dead without a word, and then the others
   * that are kept are dead too: the next requests get new ones.
   */
  #noted(error: Error, pool: Pool): Error {
    const isTimeout = error instanceof UnreachableError && error.code === 'TIMEOUT';
    if (!isTimeout || pool !== this.#requests || pool.closed || pool.destroyed) return error;
    this.#requests = this.#openPool();
    void this.#finish(pool);
    return error;
  }

  /** Lets a pool end what is under way on it. */
  async #finish(pool: Pool): Promise<void> {
    this.#closing.add(pool);
    await pool.close();
    this.#closing.delete(pool);
  }

  #openPool(): Pool {
    const { connection, onDial } = this.#options;
    const connector = buildConnector({
      ...tlsOptions(connection),
      // The pool's own option does not reach a connector that it is given.
      allowH2: false,
      timeout: CONNECT_TIMEOUT,
      keepAliveInitialDelay: TCP_KEEP_ALIVE,
    });
    return new Pool(this.#origin, {
      connections: null,
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) => {
        connector(options, (...outcome) => {
          onDial('http/1.1', outcome[0] === null ? 'success' : 'failure');
          callback(...outcome);
        });
      },
    });
  }
}

/** An answer that began. */
interface Streaming extends Pick<OpenedStream, 'status' | 'headers'> {
  readonly body: AsyncIterable<Buffer>;
}

async function* translated(
  body: AsyncIterable<Buffer>,
  request: TransportRequest,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  try {
    yield* body;
  } catch (error) {
    throw translate(error, request, signal);
  }
}
