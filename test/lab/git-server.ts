import { spawn } from 'node:child_process';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { join } from 'node:path';
import { CertificateAuthority } from './certificates.ts';
import type { LabGit } from './description.ts';
import { freePort } from './ports.ts';

/** Bare repositories over HTTPS: Git's own `http-backend` behind a server that wants a user name and a password. */
export class GitServer {
  readonly description: LabGit;
  readonly #server: Server;

  private constructor(description: LabGit, server: Server) {
    this.description = description;
    this.#server = server;
  }

  static async start(directory: string, gitProgram: string): Promise<GitServer> {
    const root = join(directory, 'git');
    await mkdir(root, { recursive: true });
    const authority = await CertificateAuthority.create('git-ca');
    const { certificate, key } = await authority.server({ names: ['localhost'], addresses: ['127.0.0.1'] });
    const port = await freePort();
    const description = {
      url: `https://127.0.0.1:${port}`,
      username: 'atoll',
      password: randomBytes(12).toString('hex'),
      ca: authority.certificate,
      root,
    };
    const server = createServer({ cert: certificate, key }, (request, response) => {
      if (isAuthorized(request, description)) runBackend(gitProgram, description, request, response);
      else refuse(response);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new GitServer(description, server);
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

function isAuthorized(request: IncomingMessage, git: LabGit): boolean {
  const expected = Buffer.from(`Basic ${Buffer.from(`${git.username}:${git.password}`).toString('base64')}`);
  const given = Buffer.from(request.headers.authorization ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function refuse(response: ServerResponse): void {
  response.writeHead(401, { 'www-authenticate': 'Basic realm="lab"' }).end('Authentication required\n');
}

/** Speaks CGI (RFC 3875) to `git http-backend`. */
function runBackend(gitProgram: string, git: LabGit, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', git.url);
  const backend = spawn(gitProgram, ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'],
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROJECT_ROOT: git.root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: request.method,
      REMOTE_USER: git.username,
      REMOTE_ADDR: '127.0.0.1',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  });
  backend.on('error', (error) => response.destroy(error));
  // A client may leave early; the backend then sees its input or output end, which is all that must happen.
  backend.stdin.on('error', () => request.destroy());
  response.on('close', () => backend.kill());
  request.pipe(backend.stdin);
  relayAnswer(backend.stdout, response);
}

function relayAnswer(output: NodeJS.ReadableStream, response: ServerResponse): void {
  let head = Buffer.alloc(0);
  const readHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    output.off('data', readHead);
    writeHead(head.subarray(0, end).toString('latin1'), response);
    response.write(head.subarray(end + 4));
    output.pipe(response);
  };
  output.on('data', readHead);
  output.on('end', () => {
    if (!response.headersSent) response.writeHead(502).end('git http-backend gave no answer\n');
  });
}

function writeHead(head: string, response: ServerResponse): void {
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
}
