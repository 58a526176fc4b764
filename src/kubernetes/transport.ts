import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import type { Clock } from '../kernel/index.ts';
import { UnexpectedAnswerError, UnreachableError } from './api-errors.ts';
import type { Connection } from './connection.ts';
import { Deadline } from './deadline.ts';
import { UnsendableError } from './unsendable-error.ts';

/** One HTTP request; the path is relative to the connection's server and bears the query. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds until the answer is complete; of a stream, until it begins. */
  readonly timeout: number;
  /** An answer larger than this is refused. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** The beginning of an answer. */
export interface AnswerHead {
  readonly status: number;
  header(name: string): string | undefined;
}

/** A complete answer. */
export interface Answer extends AnswerHead {
  readonly text: string;
}

/** An answer whose body is still coming when it is 200; any other has been read whole. */
export interface StreamedAnswer extends Answer {
  readonly chunks: AsyncIterable<Buffer>;
}

/** Options of {@link Transport}. */
export interface TransportOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** How many connections {@link Transport.request} may hold; streams have one each besides. */
  readonly maxConnections: number;
}

/** An API server closes a connection that is idle for 90 s; ours go before, so that none is reset in use. */
const KEEP_ALIVE = 60_000;
const CONNECT_TIMEOUT = 10_000;
const TCP_KEEP_ALIVE = 30_000;

/**
 * The sockets to one API server: HTTP/1.1 with keep-alive over TLS, requests and streams in pools of their own, so that
 * watches never take a write's connection. Nothing is followed, nothing is repeated, nothing is decoded here.
 */
export class Transport {
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #requests: Pool;
  readonly #streams: Pool;

  constructor(options: TransportOptions) {
    const url = new URL(options.connection.server);
    if (url.protocol !== 'https:') throw new UnsendableError(`${url.origin}: an API server is reached by https only`);
    this.#clock = options.clock;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    const pool: Pool.Options = {
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: tlsOptions(options.connection),
    };
    this.#requests = new Pool(url.origin, { ...pool, connections: options.maxConnections });
    this.#streams = new Pool(url.origin, { ...pool, connections: null });
  }

  /**
   * Sends a request and reads the whole answer. The bytes are handed over before this returns its promise.
   *
   * @throws UnreachableError without an answer, UnexpectedAnswerError for a redirect or too large an answer, and the
   * signal's reason when it aborts
   */
  async request(request: TransportRequest): Promise<Answer> {
    const deadline = this.#deadline(request);
    try {
      const response = await this.#dispatch(this.#requests, request, deadline.signal);
      const text = await readText(response.body, request);
      return { ...head(response), text };
    } catch (error) {
      throw translate(error, request, deadline.signal);
    } finally {
      deadline.cancel();
    }
  }

  /** Sends a request and answers as soon as the body begins. Ending the iteration, or the signal, cuts the stream. */
  async stream(request: TransportRequest): Promise<StreamedAnswer> {
    const deadline = this.#deadline(request);
    try {
      const response = await this.#dispatch(this.#streams, request, deadline.signal);
      const chunks = readChunks(response.body, request, deadline.signal);
      const text = response.statusCode === 200 ? '' : await readText(chunks, request);
      return { ...head(response), text, chunks };
    } catch (error) {
      throw translate(error, request, deadline.signal);
    } finally {
      deadline.cancel();
    }
  }

  /** Cuts all connections: what is under way fails. */
  async close(): Promise<void> {
    await Promise.all([this.#requests.destroy(), this.#streams.destroy()]);
  }

  #deadline(request: TransportRequest): Deadline {
    const { timeout: milliseconds, signal } = request;
    return new Deadline(this.#clock, { milliseconds, what: describe(request), signal });
  }

  async #dispatch(pool: Pool, request: TransportRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const response = await pool.request({
      method: request.method,
      path: this.#prefix + request.path,
      headers: request.headers,
      body: request.body ?? null,
      signal,
    });
    if (response.statusCode < 300 || response.statusCode === 304 || response.statusCode >= 400) return response;
    await response.body.dump();
    throw new UnexpectedAnswerError(
      `${describe(request)}: answered ${response.statusCode}; redirects of an API server are not followed`,
      { status: response.statusCode },
    );
  }
}

function tlsOptions(connection: Connection): NonNullable<Pool.Options['connect']> {
  return {
    timeout: CONNECT_TIMEOUT,
    keepAliveInitialDelay: TCP_KEEP_ALIVE,
    rejectUnauthorized: true,
    ...(connection.caData !== undefined && { ca: connection.caData }),
    ...(connection.clientCertificate !== undefined && { cert: connection.clientCertificate }),
    ...(connection.clientKey !== undefined && { key: connection.clientKey }),
  };
}

function head(response: Dispatcher.ResponseData): AnswerHead {
  return {
    status: response.statusCode,
    header: (name) => {
      const value = response.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
  };
}

async function readText(body: AsyncIterable<Buffer>, request: TransportRequest): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > request.maxBytes) {
      throw new UnexpectedAnswerError(`${describe(request)}: the answer is larger than ${request.maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString('utf8');
}

async function* readChunks(
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

function translate(error: unknown, request: TransportRequest, signal: AbortSignal): Error {
  if (signal.aborted) return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
  if (error instanceof UnexpectedAnswerError) return error;
  const code = codeOf(error);
  const text = error instanceof Error && error.message !== '' ? error.message : (code ?? String(error));
  return new UnreachableError(`${describe(request)}: ${text}`, code, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}

function describe(request: TransportRequest): string {
  return `${request.method} ${request.path.replace(/\?.*$/s, '')}`;
}
