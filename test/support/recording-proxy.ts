import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from 'node:http2';
import { request as forward } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Connection } from '../../src/kubernetes/index.ts';
import { CertificateAuthority } from '../lab/certificates.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { WatchRelay } from './watch-relay.ts';
import type { Interference } from './watch-relay.ts';

/** What the proxy answers in the server's place. */
export interface ProxyAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request, or an event of a watch. */
interface Occasion {
  readonly isWatch: boolean;
  readonly event?: Buffer;
}

/** A fault that waits for its occasion: so many requests, or events of watches, meet it. */
interface Armed<Fault> {
  readonly name: string;
  readonly fault: Fault;
  /** Whether a request or an event is an occasion. */
  readonly fits: (occasion: Occasion) => boolean;
  left: number;
}

/** Options of {@link RecordingProxy.start}. */
export interface RecordingProxyOptions {
  /** How the proxy reaches the API server; it signs in by the client certificate. */
  readonly upstream: Connection;
  /** What clients have to sign in with. */
  readonly token: string;
}

/**
 * A proxy before an API server that does harm on two levels, and records what it did: to connections ({@link tcp}) and, with
 * a certificate of its own, to requests and to the events of watches. It speaks HTTP/2 and HTTP/1.1, and wants a token of
 * its own, so that one can be made invalid.
 */
export class RecordingProxy {
  /** The network between client and proxy. */
  readonly tcp: TcpProxy;
  /** How often what happened. */
  readonly record = new Map<string, number>();
  /** The only token that is accepted. */
  token: string;
  readonly #upstream: Connection;
  readonly #ca: string;
  readonly #server: Http2SecureServer;
  readonly #sessions = new Set<ServerHttp2Session>();
  /** Raw ones: also of a connection that is still in its handshake, which `close` would wait for. */
  readonly #sockets = new Set<Socket>();
  readonly #relays = new Set<WatchRelay>();
  readonly #answers: Armed<ProxyAnswer>[] = [];
  readonly #interferences: Armed<Interference>[] = [];

  private constructor(options: RecordingProxyOptions, server: Http2SecureServer, tcp: TcpProxy, ca: string) {
    this.#upstream = options.upstream;
    this.token = options.token;
    this.#server = server;
    this.tcp = tcp;
    this.#ca = ca;
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.on('request', (request, response) => void this.#answer(request, response));
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
      // Connections break here all the time; whoever used them is to notice.
      session.on('error', () => undefined);
    });
  }

  static async start(options: RecordingProxyOptions): Promise<RecordingProxy> {
    const authority = await CertificateAuthority.create('recording-proxy');
    const pair = await authority.server({ names: [], addresses: ['127.0.0.1'] });
    const server = createSecureServer({ cert: pair.certificate, key: pair.key, allowHTTP1: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new RecordingProxy(options, server, await TcpProxy.start(() => port), authority.certificate);
  }

  /** How to reach the proxy, without a token. */
  get connection(): Connection {
    return { server: `https://127.0.0.1:${this.tcp.port}`, caData: this.#ca };
  }

  /** Watches that are being passed on. */
  get watches(): number {
    return this.#relays.size;
  }

  /** Faults that still wait for their occasion. */
  get waiting(): number {
    return [...this.#answers, ...this.#interferences].reduce((sum, { left }) => sum + left, 0);
  }

  /** Answers the next so many requests, or only watches, itself. */
  answerNext(name: string, fault: ProxyAnswer, { count = 1, onlyWatches = false } = {}): void {
    this.#answers.push({ name, fault, fits: ({ isWatch }) => isWatch || !onlyWatches, left: count });
  }

  /** Puts something in the place of the next so many events, of whichever watch, that contain a text. */
  replaceNext(name: string, fault: Interference, { count = 1, containing = '' } = {}): void {
    const fits = ({ event }: Occasion): boolean => event?.includes(containing) === true;
    this.#interferences.push({ name, fault, fits, left: count });
  }

  /** Ends all watches as a server does when their time is over. @returns how many */
  endWatches(): number {
    const relays = [...this.#relays];
    for (const relay of relays) relay.end();
    return relays.length;
  }

  /** Says goodbye to all HTTP/2 connections: what runs on them goes on, new requests are to go elsewhere. */
  goAway(): number {
    for (const session of this.#sessions) session.goaway();
    return this.#sessions.size;
  }

  /** Notes that something happened, so many times. */
  note(name: string, times = 1): void {
    if (times > 0) this.record.set(name, (this.record.get(name) ?? 0) + times);
  }

  async stop(): Promise<void> {
    await this.tcp.stop();
    for (const session of this.#sessions) session.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #answer(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const isWatch = new URL(request.url, 'https://proxy').searchParams.has('watch');
    this.note(isWatch ? 'watches' : 'other requests');
    const answer = this.#refusal(request) ?? this.#take(this.#answers, { isWatch });
    if (answer) {
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body);
      return;
    }
    try {
      await this.#passOn(request, response, isWatch);
    } catch {
      // Either side went away. The client hears of the server's end by a broken stream, as it would without a proxy.
      cut(request, response);
    }
  }

  async #passOn(request: Http2ServerRequest, response: Http2ServerResponse, isWatch: boolean): Promise<void> {
    const { server, caData, clientCertificate, clientKey } = this.#upstream;
    const outgoing = forward(`${server}${request.url}`, {
      method: request.method,
      headers: headersOf(request.headers),
      agent: false,
      ca: caData,
      cert: clientCertificate,
      key: clientKey,
    });
    response.on('close', () => outgoing.destroy());
    outgoing.end(await bytesOf(request));
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    response.writeHead(incoming.statusCode ?? 502, headersOf(incoming.headers));
    if (!isWatch || incoming.statusCode !== 200) {
      await pipeline(incoming, response);
      return;
    }
    const relay = new WatchRelay(incoming, response, (event) => this.#take(this.#interferences, { isWatch, event }));
    this.#relays.add(relay);
    try {
      sendHeaders(response);
      await relay.run();
    } finally {
      this.#relays.delete(relay);
    }
  }

  #refusal(request: Http2ServerRequest): ProxyAnswer | undefined {
    if (request.headers.authorization === `Bearer ${this.token}`) return undefined;
    this.note('401: token not accepted');
    return statusAnswer(401, 'Unauthorized', 'Unauthorized');
  }

  #take<Fault>(armed: Armed<Fault>[], occasion: Occasion): Fault | undefined {
    const next = armed.find(({ fits }) => fits(occasion));
    if (!next) return undefined;
    next.left -= 1;
    if (next.left === 0) armed.splice(armed.indexOf(next), 1);
    this.note(next.name);
    return next.fault;
  }
}

/** An API server's answer to what it does not do. */
export function statusAnswer(code: number, reason: string, message: string): ProxyAnswer {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return { status: code, body: JSON.stringify(status) };
}

/** Those that belong to one connection, or to HTTP/2 alone, do not go further. */
const CONNECTION_HEADERS = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'authorization', 'http2-settings'];

function headersOf(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !name.startsWith(':') && !CONNECTION_HEADERS.includes(name),
  );
  return Object.fromEntries(kept) as Record<string, string | string[]>;
}

async function bytesOf(request: Http2ServerRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A watch may be silent for a minute: its client wants to know before that it is open. (Node's types lack the method.) */
function sendHeaders(response: Http2ServerResponse): void {
  (response as Http2ServerResponse & { flushHeaders(): void }).flushHeaders();
}

function cut(request: Http2ServerRequest, response: Http2ServerResponse): void {
  if (request.httpVersionMajor >= 2) response.stream.destroy();
  else request.socket.destroy();
}
