/**
 * A process with a TLS server in it that answers like an API server, from a recording: discovery, one streamed list, and
 * then as many changes as it is told, as fast as the client takes them. A real one would be the limit.
 *
 * @module
 */
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { CertificateAuthority } from '../../test/lab/certificates.ts';
import { measure } from '../own-process.ts';

/** What to answer from; JSON as a real API server sent it. */
export interface Recording {
  readonly discovery: Readonly<Record<string, string>>;
  readonly collection: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly objects: readonly string[];
}

export type PushQuestion = { readonly recording: Recording } | { readonly push: number };

/** Where the server is, once it is. */
export interface PushAddress {
  readonly server: string;
  readonly caData: string;
}

/** An object's text before and after its resourceVersion. */
type Template = readonly [string, string];

const VERSION = /"resourceVersion":"\d+"/;
const CHUNK_BYTES = 64 * 1024;

class PushServer {
  readonly #recording: Recording;
  readonly #templates: readonly Template[];
  readonly #watches = new Set<Http2ServerResponse>();
  #version = 1_000_000;

  constructor(recording: Recording) {
    this.#recording = recording;
    this.#templates = recording.objects.map(templateOf);
  }

  async listen(): Promise<PushAddress> {
    const authority = await CertificateAuthority.create('push-server');
    const { certificate, key } = await authority.server({ names: [], addresses: ['127.0.0.1'] });
    const server = createSecureServer({ cert: certificate, key, allowHTTP1: true }, (request, response) =>
      this.#answer(request, response),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, caData: authority.certificate };
  }

  /** Sends so many changes to every watch, its objects in turn, each with the next version. */
  async push(count: number): Promise<void> {
    const watches = [...this.#watches];
    let chunk = '';
    for (let sent = 1; sent <= count; sent += 1) {
      chunk += this.#line('MODIFIED', sent % this.#templates.length);
      if (chunk.length < CHUNK_BYTES && sent < count) continue;
      const full = watches.filter((watch) => !watch.write(chunk));
      chunk = '';
      await Promise.all(full.map(async (watch) => once(watch, 'drain')));
    }
  }

  #answer(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { pathname } = new URL(request.url, 'https://push');
    response.setHeader('content-type', 'application/json');
    if (pathname !== this.#recording.collection) {
      const document = this.#recording.discovery[pathname];
      response.statusCode = document === undefined ? 404 : 200;
      response.end(document ?? '');
      return;
    }
    response.writeHead(200);
    for (const index of this.#templates.keys()) response.write(this.#line('ADDED', index));
    response.write(this.#endMark());
    this.#watches.add(response);
    response.on('close', () => this.#watches.delete(response));
  }

  #line(type: string, index: number): string {
    this.#version += 1;
    const [before, after] = this.#templates[index] ?? ['', ''];
    return `{"type":"${type}","object":${before}"resourceVersion":"${this.#version}"${after}}\n`;
  }

  #endMark(): string {
    const { apiVersion, kind } = this.#recording;
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(this.#version), creationTimestamp: null, annotations };
    return `${JSON.stringify({ type: 'BOOKMARK', object: { kind, apiVersion, metadata } })}\n`;
  }
}

function templateOf(object: string): Template {
  const [before, after, ...rest] = object.split(VERSION);
  if (before === undefined || after === undefined || rest.length > 0) throw new Error(`no object: ${object}`);
  return [before, after];
}

let pushing: PushServer | undefined;

measure(async (question: PushQuestion): Promise<PushAddress | undefined> => {
  if ('push' in question) {
    await pushing?.push(question.push);
    return undefined;
  }
  pushing = new PushServer(question.recording);
  return pushing.listen();
});
