import { Agent, request as send, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';

import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';

import { checkLiteralHost, guardedLookup } from './address-guard.ts';
import { GitError } from './git-error.ts';
import type { GitLimits } from './git-limits.ts';
import type { GitCredentials } from './git-reader.ts';
import { statusError, transportError } from './transport-error.ts';

/** Some hosts show a browser's login page to anything that is not called git. */
const USER_AGENT = 'git/atoll';
const SHA256_REPOSITORY = 'object-format=sha256';

/** Options of {@link HttpTransport}. */
export interface HttpTransportOptions {
  /** A checked URL; requests go below it and nowhere else. */
  readonly url: string;
  readonly credentials: GitCredentials;
  readonly allowLoopback: boolean;
  readonly signal: AbortSignal;
}

/** What the transport asks of one answer. */
export interface AnswerLimits extends Pick<GitLimits, 'wireBytes' | 'idleTimeout'> {
  /** Looks at the answer to a POST before isomorphic-git does. @throws GitError when it must not be used */
  readonly inspect?: ((body: Buffer) => void) | undefined;
}

/**
 * HTTP for isomorphic-git that keeps to one repository: no redirects, no other host, checked addresses, its own
 * certificate authorities, credentials from the first request on. An answer is handed on only when it has come whole, has
 * Git's content type and passed `inspect`; until then nothing on disk changes. Every failure is a {@link GitError}.
 */
export class HttpTransport {
  readonly #options: HttpTransportOptions;
  readonly #agent: Agent;
  #received = 0;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    // One connection, kept from the discovery to the request that follows it.
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 1,
      ca: options.credentials.ca,
      lookup: guardedLookup(options.allowLoopback),
    });
  }

  /** Bytes of all answers so far. */
  get received(): number {
    return this.#received;
  }

  /** The client to give to isomorphic-git for one operation. */
  client(limits: AnswerLimits): HttpClient {
    return { request: (request) => this.#request(request, limits) };
  }

  /** Closes the connection. */
  close(): void {
    this.#agent.destroy();
  }

  async #request(request: GitHttpRequest, limits: AnswerLimits): Promise<GitHttpResponse> {
    try {
      const body = await collect(request.body);
      const response = await this.#sendTwice(request, body, limits);
      const answer = await this.#receive(response, limits);
      checkAnswer(response, answer, request.method ?? 'GET');
      if (request.method === 'POST') limits.inspect?.(answer);
      const { statusCode = 0, statusMessage = '' } = response;
      const headers = { 'content-type': response.headers['content-type'] ?? '' };
      return { url: request.url, headers, body: [answer] as never, statusCode, statusMessage };
    } catch (error) {
      throw transportError(error, this.#options);
    }
  }

  /** A kept connection may have been closed by the server just as it was used: only then is a request sent again. */
  async #sendTwice(request: GitHttpRequest, body: Buffer | undefined, limits: AnswerLimits): Promise<IncomingMessage> {
    const first = await this.#send(request, body, limits);
    return first === 'stale' ? this.#send(request, body, limits).then(requireFresh) : first;
  }

  async #send(
    { url, method = 'GET', headers = {} }: GitHttpRequest,
    body: Buffer | undefined,
    { idleTimeout }: AnswerLimits,
  ): Promise<IncomingMessage | 'stale'> {
    if (!url.startsWith(`${this.#options.url}/`))
      throw new GitError('InternalError', 'a request leaves the repository');
    checkLiteralHost(new URL(url).hostname, this.#options.allowLoopback);
    const options: RequestOptions = {
      method,
      agent: this.#agent,
      signal: this.#options.signal,
      headers: { ...headers, ...authorization(this.#options.credentials), 'user-agent': USER_AGENT },
    };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage | 'stale'>();
    const request = send(url, options, resolve);
    request.setTimeout(idleTimeout, () => request.destroy(stalled(idleTimeout)));
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (request.reusedSocket && error.code === 'ECONNRESET') resolve('stale');
      else reject(error);
    });
    request.end(body);
    return promise;
  }

  async #receive(response: IncomingMessage, { wireBytes, idleTimeout }: AnswerLimits): Promise<Buffer> {
    response.setTimeout(idleTimeout, () => response.destroy(stalled(idleTimeout)));
    if (response.statusCode !== 200) {
      response.destroy();
      throw statusError(response);
    }
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      this.#received += chunk.length;
      if (length > wireBytes) throw new GitError('LimitExceeded', `the Git server sends more than ${wireBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, length);
  }
}

async function collect(body: AsyncIterable<Uint8Array> | undefined): Promise<Buffer | undefined> {
  if (body === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function authorization({ bearerToken, username, password }: GitCredentials): { authorization?: string } {
  if (bearerToken !== undefined) return { authorization: `Bearer ${bearerToken}` };
  if (username === undefined && password === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}` };
}

/** A smart server answers with these types, and only it does: a login page with status 200 does not. */
function checkAnswer(response: IncomingMessage, answer: Buffer, method: string): void {
  const expected = `application/x-git-upload-pack-${method === 'GET' ? 'advertisement' : 'result'}`;
  if (response.headers['content-type'] !== expected || response.headers['content-encoding'] !== undefined) {
    throw new GitError('NotGit', 'the server answers something else than Git; is the URL that of a repository?');
  }
  if (method === 'GET' && answer.includes(SHA256_REPOSITORY)) {
    throw new GitError('UnsupportedContent', 'the repository uses SHA-256 object names, which are not supported');
  }
}

function requireFresh(response: IncomingMessage | 'stale'): IncomingMessage {
  if (response === 'stale') throw new GitError('Unreachable', 'the Git server closed the connection twice');
  return response;
}

function stalled(idleTimeout: number): GitError {
  return new GitError('Timeout', `the Git server sent nothing for ${idleTimeout} ms`);
}
