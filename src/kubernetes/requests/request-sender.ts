import type { Cancel, Clock, ClusterName, Logger, Metrics, Random } from '../../kernel/index.ts';
import { UnreachableError } from '../api-errors.ts';
import { signalOf, targetOf } from './api-request.ts';
import type { ApiRequest } from './api-request.ts';
import { BudgetGate } from './budget-gate.ts';
import { ClientMetrics } from './client-metrics.ts';
import { toConnectionSource } from '../connection/connection.ts';
import type { Connection, ConnectionSource } from '../connection/connection.ts';
import { CredentialStore } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { Deadline, untilAborted } from '../transport/deadline.ts';
import { describeRequest } from '../transport/exchange.ts';
import type { Answer, StreamedAnswer, TransportRequest } from '../transport/exchange.ts';
import { SELF, impersonationHeaders } from '../identity.ts';
import type { WriteStamp } from '../identity.ts';
import type { RequestLimits } from './request-budget.ts';
import { isRepeated, retryAfterOf } from './retry-rules.ts';
import { ServerWarnings } from './server-warnings.ts';
import { Transports } from '../transport/transports.ts';
import { WebSockets } from '../transport/web-sockets.ts';
import type { UpgradedAnswer } from '../transport/web-sockets.ts';

/** Options of {@link RequestSender}. */
export interface RequestSenderOptions {
  readonly cluster: ClusterName;
  readonly connection: Connection | ConnectionSource;
  /** Asked for each request; {@link DEFAULT_LIMITS} when absent. */
  readonly limits?: (() => RequestLimits) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly userAgent: string;
}

/** A server may close an idle connection in the moment in which it is used again: a read is then sent once more. */
const CONNECTION_LOST = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** Sends calls to one API server: as whom, how many at a time, how often, and counted. */
export class RequestSender {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #userAgent: string;
  readonly #credentials: CredentialStore;
  readonly #transports: Transports;
  readonly #sockets: WebSockets;
  readonly #gate: BudgetGate;
  readonly #metrics: ClientMetrics;
  readonly #warnings: ServerWarnings;
  readonly #recovered = new Set<() => void>();
  #isUnreachable = false;
  #stamp: WriteStamp | undefined;

  constructor(options: RequestSenderOptions) {
    const { clock, random, logger } = options;
    const source = toConnectionSource(options.connection);
    this.#clock = clock;
    this.#random = random;
    this.#userAgent = options.userAgent;
    this.#metrics = new ClientMetrics(options.metrics, options.cluster);
    this.#warnings = new ServerWarnings(logger, this.#metrics);
    this.#credentials = new CredentialStore({ source, clock, random, logger });
    this.#gate = new BudgetGate({ clock, random, limits: options.limits, metrics: this.#metrics });
    this.#sockets = new WebSockets(clock);
    this.#transports = new Transports(source, {
      clock,
      random,
      onDial: (protocol, result) => this.#metrics.dialed(protocol, result),
    });
  }

  /** From now on every write bears this, or nothing. */
  stampWrites(stamp: WriteStamp | undefined): void {
    this.#stamp = stamp;
  }

  /** Calls back whenever the server answers a call after one that it did not answer. */
  onRecovered(callback: () => void): Cancel {
    this.#recovered.add(callback);
    return () => void this.#recovered.delete(callback);
  }

  /**
   * Sends a call and answers whatever the server says, failures too. What the server asks to send later is sent later,
   * within bounds (`retry-rules.ts`); what it does not accept the credentials of, once more with others.
   */
  async send(request: ApiRequest): Promise<Answer> {
    const startedAt = this.#clock.monotonic();
    const isRead = request.method === 'GET';
    let left = request.timeout;
    for (let repetitions = 0; ; repetitions += 1) {
      const patience = isRead ? left : request.timeout;
      const answer = await this.#gate.pass(request, patience, () => this.#sendOnce(request));
      left = request.timeout - (this.#clock.monotonic() - startedAt);
      const retryAfter = retryAfterOf(answer.header('retry-after'));
      if (!isRepeated({ status: answer.status, retryAfter, isRead, repetitions, left })) return answer;
      this.#metrics.repeated(request.method, String(answer.status));
      // After a 429 the gate is closed for as long as was asked, for all calls.
      if (answer.status === 429) continue;
      await this.#clock.sleep((retryAfter ?? 0) * 1000 * (1 + this.#random() / 4), signalOf(request));
    }
  }

  /**
   * Opens a stream, and answers as soon as its body begins. Only an answer of 200 has chunks; any other has been read
   * whole. Ending the iteration cuts the stream.
   */
  async open(request: ApiRequest): Promise<StreamedAnswer> {
    const answer = await this.#gate.pass(request, request.timeout, () =>
      this.#authenticated(request, (credentials) => this.#readTwice(request, () => this.#stream(request, credentials))),
    );
    return 'chunks' in answer ? answer : { ...answer, chunks: nothing() };
  }

  /** Opens a WebSocket by one of the given subprotocols. An answer without a socket is the server's refusal. */
  async upgrade(request: ApiRequest & { readonly protocols: readonly string[] }): Promise<Answer | UpgradedAnswer> {
    return this.#gate.pass(request, request.timeout, () =>
      this.#authenticated(request, async (credentials) => {
        const prepared = { ...this.#prepare(request, credentials), protocols: request.protocols };
        request.write?.guard();
        return this.#counted(request, this.#sockets.open(prepared, credentials.connection));
      }),
    );
  }

  /** Ends what is under way, and all connections. */
  async close(): Promise<void> {
    this.#sockets.close();
    await this.#transports.close();
  }

  async #sendOnce(request: ApiRequest): Promise<Answer> {
    return this.#authenticated(request, (credentials) =>
      this.#readTwice(request, () => this.#exchange(request, credentials)),
    );
  }

  /** Sends with the credentials of now, and once more when they are refused and there are others. */
  async #authenticated<Received extends Answer>(
    request: ApiRequest,
    sending: (credentials: Credentials) => Promise<Received>,
  ): Promise<Received | Answer> {
    const credentials = await this.#currentCredentials(request);
    const refusal = this.#credentials.refusalOf(credentials);
    if (refusal !== undefined) return refusal;
    const answer = await sending(credentials);
    if (await this.#isLetIn(request, credentials, answer)) return answer;
    this.#metrics.repeated(request.method, '401');
    const others = await this.#currentCredentials(request);
    const second = await sending(others);
    await this.#isLetIn(request, others, second);
    return second;
  }

  /** Whether an answer stands: it is no 401, or one that other credentials would get as well, because there are none. */
  async #isLetIn(request: ApiRequest, credentials: Credentials, answer: Answer): Promise<boolean> {
    if (answer.status !== 401) {
      this.#credentials.accepted();
      return true;
    }
    return !(await this.#within(request, this.#credentials.refused(credentials, answer)));
  }

  async #readTwice<Received>(request: ApiRequest, sending: () => Promise<Received>): Promise<Received> {
    try {
      return await sending();
    } catch (error) {
      const isLost = error instanceof UnreachableError && CONNECTION_LOST.includes(error.code ?? '');
      if (!isLost || request.method !== 'GET') throw error;
      this.#metrics.repeated(request.method, '<error>');
      return sending();
    }
  }

  async #exchange(request: ApiRequest, credentials: Credentials): Promise<Answer> {
    const prepared = this.#prepare(request, credentials);
    const transport = this.#transports.for(credentials.connection);
    // Nothing may be awaited between the guard and the sending: a lease that is lost in between would not be noticed.
    request.write?.guard();
    const answer = await this.#counted(request, transport.request(prepared));
    this.#metrics.exchanged(request.method, Buffer.byteLength(request.body ?? ''), Buffer.byteLength(answer.text));
    return answer;
  }

  async #stream(request: ApiRequest, credentials: Credentials): Promise<StreamedAnswer> {
    const prepared = this.#prepare(request, credentials);
    const transport = this.#transports.for(credentials.connection);
    const isList = request.stream === 'list';
    return this.#counted(request, isList ? transport.list(prepared) : transport.watch(prepared));
  }

  #prepare(request: ApiRequest, { token }: Credentials): TransportRequest {
    return {
      method: request.method,
      path: targetOf(request),
      headers: {
        accept: 'application/json',
        'user-agent': this.#userAgent,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...impersonationHeaders(request.write?.identity ?? request.identity ?? SELF, request.write && this.#stamp),
        ...request.headers,
      },
      ...(request.body !== undefined && { body: request.body }),
      timeout: request.timeout,
      maxBytes: request.maxBytes,
      signal: signalOf(request),
    };
  }

  async #currentCredentials(request: ApiRequest): Promise<Credentials> {
    const credentials = this.#credentials.current();
    return credentials instanceof Promise ? this.#within(request, credentials) : credentials;
  }

  /** Where credentials come from is waited for no longer than for the server itself. */
  async #within<Value>(request: ApiRequest, promise: Promise<Value>): Promise<Value> {
    const what = `${describeRequest(request)}: reading credentials`;
    const deadline = new Deadline(this.#clock, { milliseconds: request.timeout, what, signal: signalOf(request) });
    try {
      return await untilAborted(promise, deadline.signal);
    } finally {
      deadline.cancel();
    }
  }

  async #counted<Received extends Answer>(request: ApiRequest, sending: Promise<Received>): Promise<Received> {
    const startedAt = this.#clock.monotonic();
    let code = '<error>';
    try {
      const answer = await sending;
      code = String(answer.status);
      this.#warnings.note(request.path, answer.header('warning'));
      this.#answered();
      return answer;
    } catch (error) {
      if (error instanceof UnreachableError) this.#isUnreachable = true;
      throw error;
    } finally {
      this.#metrics.sent(request.method, code, (this.#clock.monotonic() - startedAt) / 1000);
    }
  }

  #answered(): void {
    if (!this.#isUnreachable) return;
    this.#isUnreachable = false;
    for (const callback of this.#recovered) callback();
  }
}

async function* nothing(): AsyncGenerator<Buffer, void> {
  yield* [];
}
