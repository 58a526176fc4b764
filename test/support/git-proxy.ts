import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as forward } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { CertificateAuthority } from '../lab/certificates.ts';
import { lab } from './lab.ts';

/** What comes back from the Git server, or is made to. */
export interface GitAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Only the first bytes are sent; then the connection is broken, left open, or ended as if that were all. */
  readonly stopAfter?: { readonly bytes: number; readonly how: 'break' | 'stall' | 'end' };
}

/** Which request an answer is to. */
export interface GitRequest {
  readonly method: string;
  readonly path: string;
}

/** Changes an answer on its way; undefined lets the request go unanswered. */
export type Tamper = (answer: GitAnswer, request: GitRequest) => GitAnswer | undefined;

/** Stands before the lab's Git server: counts what passes, and does harm when told to. */
export class GitProxy {
  /** All requests since the last {@link reset}. */
  readonly requests: GitRequest[] = [];
  /** Bytes of all bodies that were answered since the last {@link reset}. */
  bytes = 0;
  /** Values of all Authorization headers that came in. */
  readonly authorizations = new Set<string | undefined>();
  tamper: Tamper = (answer) => answer;
  readonly ca: string;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(ca: string, pair: { certificate: string; key: string }) {
    this.ca = ca;
    this.#server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
      void this.#pass(request, response);
    });
  }

  static async start(): Promise<GitProxy> {
    const authority = await CertificateAuthority.create('git-proxy');
    const pair = await authority.server({ names: ['localhost'], addresses: ['127.0.0.1'] });
    const proxy = new GitProxy(authority.certificate, pair);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  reset(): void {
    this.requests.length = 0;
    this.bytes = 0;
    this.authorizations.clear();
    this.tamper = (answer) => answer;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen: GitRequest = { method: request.method ?? '', path: request.url ?? '' };
    this.requests.push(seen);
    this.authorizations.add(request.headers.authorization);
    const answer = this.tamper(await askGitServer(request), seen);
    if (answer === undefined) return;
    const { status, headers, body, stopAfter } = answer;
    const sent = stopAfter === undefined ? body : body.subarray(0, stopAfter.bytes);
    this.bytes += sent.length;
    response.writeHead(status, headers);
    if (stopAfter === undefined || stopAfter.how === 'end') response.end(sent);
    else response.write(sent, () => stopAfter.how === 'break' && response.destroy());
  }
}

async function askGitServer(request: IncomingMessage): Promise<GitAnswer> {
  const { git } = lab();
  const { host: _host, ...headers } = request.headers;
  const outgoing = forward(`${git.url}${request.url}`, { method: request.method, headers, ca: git.ca, agent: false });
  outgoing.end(await buffer(request));
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const type = incoming.headers['content-type'];
  const kept = type === undefined ? {} : { 'content-type': type };
  return { status: incoming.statusCode ?? 0, headers: kept, body: await buffer(incoming) };
}
