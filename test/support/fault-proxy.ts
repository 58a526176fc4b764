import { once } from 'node:events';
import { createServer, request as forward } from 'node:https';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Connection } from '../../src/kubernetes/index.ts';
import { CertificateAuthority } from '../lab/certificates.ts';

/**
 * What the proxy does with a request instead of passing it on. `cut` breaks the connection, `silence` never answers. `until` takes the
 * request whole and passes it on then, as a network does that delivers late: also when its sender has given up.
 */
export type Fault =
  | { readonly until: Promise<unknown> }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'cut'
  | 'silence';

/** A request as the proxy saw it. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

interface HeldRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly until: Promise<unknown>;
}

/** How long an API server keeps an idle connection. */
const API_SERVER_KEEP_ALIVE = 90_000;

/**
 * An HTTPS proxy before an API server (or before nothing). It notes requests, passes them on with their bearer token, and
 * does harm when told to. Clients reach it by {@link connection}, which trusts the proxy's certificate only.
 */
export class FaultProxy {
  readonly seen: SeenRequest[] = [];
  /** Requests that are or were held back, in full. */
  readonly held: SeenRequest[] = [];
  /** How many TLS connections were opened. */
  connections = 0;
  /** Decides for each request; by default all are passed on. */
  fault: (request: SeenRequest) => Fault | undefined = () => undefined;
  readonly #upstream: Connection | undefined;
  readonly #ca: string;
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  private constructor(upstream: Connection | undefined, ca: string, pair: { certificate: string; key: string }) {
    this.#upstream = upstream;
    this.#ca = ca;
    this.#server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
      void this.#answer(request, response);
    });
    this.#server.keepAliveTimeout = API_SERVER_KEEP_ALIVE;
    // From its first byte on: one that is in the middle of its handshake when the proxy stops would keep it from stopping.
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('secureConnection', (socket) => {
      this.connections += 1;
      // A connection that breaks is what this proxy is for.
      socket.on('error', () => undefined);
    });
  }

  /** Starts a proxy. Without an upstream every request needs a fault. */
  static async start(upstream?: Connection): Promise<FaultProxy> {
    const authority = await CertificateAuthority.create('fault-proxy');
    const pair = await authority.server({ names: [], addresses: ['127.0.0.1'] });
    const proxy = new FaultProxy(upstream, authority.certificate, pair);
    await proxy.listen();
    return proxy;
  }

  get connection(): Connection {
    const token = this.#upstream?.token ?? 'test-token';
    return { server: `https://127.0.0.1:${this.#port}`, caData: this.#ca, token };
  }

  /** Accepts connections (again), on the same port as before. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Breaks all connections that there are. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Refuses connections, and breaks those that there are. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = { method: request.method ?? '', url: request.url ?? '', headers: request.headers };
    this.seen.push(seen);
    const fault = this.fault(seen);
    if (fault === 'silence') return;
    if (fault === 'cut') request.socket.destroy();
    else if (fault && 'until' in fault) await this.#passOnLate(seen, { request, response, until: fault.until });
    else if (fault) response.writeHead(fault.status, fault.headers).end(fault.body);
    else await this.#passOn(request, response);
  }

  /** Either side may go away at any time: then the other is ended, which is what the client is to notice. */
  async #passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const outgoing = this.#forward(request);
    response.on('close', () => outgoing.destroy());
    outgoing.on('response', (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.headers);
      response.flushHeaders();
      pipeline(incoming, response).catch(() => response.destroy());
    });
    await pipeline(request, outgoing).catch(() => response.destroy());
  }

  async #passOnLate(seen: SeenRequest, { request, response, until }: HeldRequest): Promise<void> {
    const body = await buffer(request);
    this.held.push(seen);
    await until;
    const outgoing = this.#forward(request);
    outgoing.on('response', (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.headers);
      // Nobody may be there any more to hear the answer.
      pipeline(incoming, response).catch(() => incoming.resume());
    });
    outgoing.on('error', () => response.destroy());
    outgoing.end(body);
  }

  #forward({ method, url, headers: received }: IncomingMessage): ClientRequest {
    if (!this.#upstream) throw new Error(`nothing is behind the proxy to answer ${url}`);
    const { server, caData } = this.#upstream;
    const { host: _host, ...headers } = received;
    return forward(`${server}${url}`, { method, headers, ca: caData, agent: false });
  }
}
