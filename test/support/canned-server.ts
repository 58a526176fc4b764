import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import { KubernetesClient } from '../../src/kubernetes/index.ts';
import type { Connection, KubernetesClientOptions } from '../../src/kubernetes/index.ts';
import { CertificateAuthority } from '../lab/certificates.ts';

/** A request as the server got it. */
export interface CannedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Http2ServerRequest['headers'];
  readonly body: string;
}

/** How a request is answered. */
export interface Reply {
  /** The whole answer; an object is sent as JSON. */
  send(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** A piece of an answer that goes on. */
  write(text: string): void;
  end(): void;
  /** Breaks the connection. */
  cut(): void;
}

type Answer = (request: CannedRequest, reply: Reply) => void;

/** What the server says that it serves. */
const SERVED = {
  '/api': [group('', 'v1', { configmaps: 'ConfigMap', secrets: 'Secret', namespaces: 'Namespace' })],
  '/apis': [group('apps', 'v1', { deployments: 'Deployment' })],
};

/**
 * An API server that is none: TLS, discovery, and to everything else the answer that a test writes. For what a real one
 * cannot be brought to say. Speaks HTTP/2 and HTTP/1.1, or the latter alone.
 */
export class CannedServer {
  readonly requests: CannedRequest[] = [];
  readonly sessions = new Set<ServerHttp2Session>();
  answer: Answer = ({ path }, reply) => reply.send(404, `nothing at ${path}`);
  readonly #server: Http2SecureServer;
  readonly #ca: string;
  readonly #sockets = new Set<Socket>();
  readonly #clients: KubernetesClient[] = [];

  private constructor(server: Http2SecureServer, ca: string) {
    this.#server = server;
    this.#ca = ca;
    server.on('session', (session) => {
      this.sessions.add(session);
      session.on('close', () => this.sessions.delete(session));
      // What tests break is reported here; the client is who is looked at.
      session.on('error', () => undefined);
    });
    server.on('secureConnection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
    });
    server.on('request', (request, response) => void this.#respond(request, response));
  }

  static async start(settings: { readonly maxConcurrentStreams?: number } = {}): Promise<CannedServer> {
    const authority = await CertificateAuthority.create('canned-server');
    const { certificate, key } = await authority.server({ names: [], addresses: ['127.0.0.1'] });
    const server = createSecureServer({ cert: certificate, key, allowHTTP1: true, settings });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CannedServer(server, authority.certificate);
  }

  get connection(): Connection {
    const { port } = this.#server.address() as AddressInfo;
    return { server: `https://127.0.0.1:${port}`, caData: this.#ca, token: 'test-token' };
  }

  /** A client of this server, closed with it. */
  client(options: Partial<KubernetesClientOptions> = {}): KubernetesClient {
    const common = { clock: systemClock, random: () => 0, logger: silentLogger, metrics: noMetrics };
    const client = new KubernetesClient({ cluster: 'eu-1', connection: this.connection, ...common, ...options });
    this.#clients.push(client);
    return client;
  }

  /** Requests that were no discovery. */
  get calls(): readonly CannedRequest[] {
    return this.requests.filter(({ path }) => !(path in SERVED));
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    for (const session of this.sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #respond(incoming: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const url = new URL(incoming.url, 'https://server');
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const { method, headers } = incoming;
    const request = { method, path: url.pathname, query: url.searchParams, headers, body };
    this.requests.push(request);
    const reply = replyBy(response);
    const items = SERVED[url.pathname as keyof typeof SERVED];
    if (items === undefined) this.answer(request, reply);
    else reply.send(200, { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items });
  }
}

function replyBy(response: Http2ServerResponse): Reply {
  return {
    send: (status, body, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    },
    write: (text) => void response.write(text),
    end: () => void response.end(),
    cut: () => void (response.stream?.session ?? response.socket).destroy(),
  };
}

function group(name: string, version: string, kinds: Readonly<Record<string, string>>): object {
  const resources = Object.entries(kinds).map(([resource, kind]) => ({
    resource,
    responseKind: { group: name, version, kind },
    scope: kind === 'Namespace' ? 'Cluster' : 'Namespaced',
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: [],
  }));
  return { metadata: { name }, versions: [{ version, freshness: 'Current', resources }] };
}
