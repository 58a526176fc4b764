import type { Cancel, Clock, ClusterName, Counter, Logger, Metrics, Random } from '../kernel/index.ts';
import { UnreachableError } from './api-errors.ts';
import { toConnectionSource } from './connection.ts';
import type { Connection, ConnectionSource } from './connection.ts';
import { Deadline } from './deadline.ts';
import { SELF, impersonationHeaders } from './identity.ts';
import type { Identity, WriteContext } from './identity.ts';
import { InFlightLimit } from './in-flight-limit.ts';
import { Transport } from './transport.ts';
import type { Answer, AnswerHead, StreamedAnswer, TransportRequest } from './transport.ts';

/** One call to an API server, before credentials and identity are added. */
export interface ApiRequest {
  readonly method: TransportRequest['method'];
  readonly path: string;
  /** Parameters that are undefined or false are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds for each sending. */
  readonly timeout: number;
  readonly maxBytes: number;
  /** Mandatory for everything but GET. */
  readonly write?: WriteContext;
  /** As whom to read. */
  readonly identity?: Identity | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * What {@link RequestSender.open} opens. A list takes a place of the cluster's budget until its chunks are read to the
   * end or their iteration ends; a watch takes none, for it lasts for minutes.
   */
  readonly stream?: 'watch' | 'list';
}

/** Options of {@link RequestSender}. */
export interface RequestSenderOptions {
  readonly cluster: ClusterName;
  readonly connection: Connection | ConnectionSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly userAgent: string;
}

/** Enough for a worker pool and its informers' lists, few enough for a small API server (its default is 400 for all). */
const MAX_IN_FLIGHT = 32;

/** How often a call is repeated because the server says 429, and the longest wait it may ask for. */
const MAX_REPETITIONS = 2;
const MAX_RETRY_AFTER_SECONDS = 5;

/** A server may close an idle connection in the moment in which it is used again: a read is then sent once more. */
const CONNECTION_LOST = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** Sends calls to one API server: as whom, how many at a time, how often, and counted. */
export class RequestSender {
  readonly #cluster: ClusterName;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #userAgent: string;
  readonly #token: Connection['token'];
  readonly #transport: Transport;
  readonly #inFlight = new InFlightLimit(MAX_IN_FLIGHT);
  readonly #requests: Counter;
  readonly #recovered = new Set<() => void>();
  #isUnreachable = false;

  constructor(options: RequestSenderOptions) {
    this.#cluster = options.cluster;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#logger = options.logger;
    this.#userAgent = options.userAgent;
    const connection = toConnectionSource(options.connection).current();
    this.#token = connection.token;
    this.#transport = new Transport({
      connection,
      clock: options.clock,
      maxConnections: MAX_IN_FLIGHT,
    });
    this.#requests = options.metrics.counter({
      name: 'rest_client_requests_total',
      help: 'Requests to API servers by status code, method and cluster; <error> is one without an answer',
      labelNames: ['code', 'method', 'cluster'],
    });
  }

  /** Calls back whenever the server answers a call after one that it did not answer. */
  onRecovered(callback: () => void): Cancel {
    this.#recovered.add(callback);
    return () => void this.#recovered.delete(callback);
  }

  /** Sends a call and answers whatever the server says, failures too; 429 is waited out within bounds. */
  async send(request: ApiRequest): Promise<Answer> {
    for (let repetitions = 0; ; repetitions += 1) {
      const answer = await this.#sendOnce(request, repetitions);
      const warning = answer.header('warning');
      if (warning !== undefined) this.#logger.debug('API server warns', { path: request.path, warning });
      const wait = Number(answer.header('retry-after') ?? Number.NaN);
      const isWorthWaiting = answer.status === 429 && wait <= MAX_RETRY_AFTER_SECONDS && repetitions < MAX_REPETITIONS;
      if (!isWorthWaiting) return answer;
      await this.#clock.sleep(wait * 1000 * (1 + this.#random() / 4), signalOf(request));
    }
  }

  /**
   * Opens a stream, and answers as soon as its body begins. Only an answer of 200 has chunks; any other has been read
   * whole. Ending the iteration cuts the stream.
   */
  async open(request: ApiRequest): Promise<StreamedAnswer> {
    if (request.stream !== 'list') return this.#openOnce(request);
    const release = await this.#enter(request);
    try {
      const answer = await this.#openOnce(request);
      if (answer.status === 200) return { ...answer, chunks: releasing(answer.chunks, release) };
      release();
      return answer;
    } catch (error) {
      release();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  async #openOnce(request: ApiRequest): Promise<StreamedAnswer> {
    const prepared = await this.#prepare(request);
    return this.#counted(request.method, this.#transport.stream(prepared));
  }

  async #sendOnce(request: ApiRequest, repetitions: number): Promise<Answer> {
    const release = await this.#enter(request);
    try {
      return await this.#exchange(request);
    } catch (error) {
      const isLost = error instanceof UnreachableError && CONNECTION_LOST.includes(error.code ?? '');
      if (!isLost || request.method !== 'GET' || repetitions > 0) throw error;
      return await this.#exchange(request);
    } finally {
      release();
    }
  }

  /** Waits for a place no longer than the call itself may take, so that no caller hangs behind a slow server. */
  async #enter(request: ApiRequest): Promise<() => void> {
    const what = `${request.method} ${request.path}: waiting for other requests`;
    const deadline = new Deadline(this.#clock, { milliseconds: request.timeout, what, signal: signalOf(request) });
    try {
      return await this.#inFlight.acquire(deadline.signal);
    } finally {
      deadline.cancel();
    }
  }

  async #exchange(request: ApiRequest): Promise<Answer> {
    const prepared = await this.#prepare(request);
    // Nothing may be awaited between the guard and the sending: a lease that is lost in between would not be noticed.
    request.write?.guard();
    return this.#counted(request.method, this.#transport.request(prepared));
  }

  async #prepare(request: ApiRequest): Promise<TransportRequest> {
    const token = typeof this.#token === 'function' ? await this.#token() : this.#token;
    return {
      method: request.method,
      path: request.path + formatQuery(request.query ?? {}),
      headers: {
        accept: 'application/json',
        'user-agent': this.#userAgent,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...impersonationHeaders(request.write?.identity ?? request.identity ?? SELF),
        ...request.headers,
      },
      ...(request.body !== undefined && { body: request.body }),
      timeout: request.timeout,
      maxBytes: request.maxBytes,
      signal: signalOf(request),
    };
  }

  async #counted<Head extends AnswerHead>(method: string, sending: Promise<Head>): Promise<Head> {
    let code = '<error>';
    try {
      const answer = await sending;
      code = String(answer.status);
      this.#answered();
      return answer;
    } catch (error) {
      if (error instanceof UnreachableError) this.#isUnreachable = true;
      throw error;
    } finally {
      this.#requests.inc({ code, method, cluster: this.#cluster });
    }
  }

  #answered(): void {
    if (!this.#isUnreachable) return;
    this.#isUnreachable = false;
    for (const callback of this.#recovered) callback();
  }
}

async function* releasing(chunks: AsyncIterable<Buffer>, release: () => void): AsyncGenerator<Buffer, void> {
  try {
    yield* chunks;
  } finally {
    release();
  }
}

function signalOf(request: ApiRequest): AbortSignal | undefined {
  return request.signal ?? request.write?.signal;
}

function formatQuery(query: NonNullable<ApiRequest['query']>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== false && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
