import { connect as connectHttp2, constants } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import type { Cancel, Clock, Random } from '../../kernel/index.ts';
import { UnreachableError } from '../api-errors.ts';
import type { Connection } from '../connection/connection.ts';
import { EndableBody } from './endable-body.ts';
import { CONNECT_TIMEOUT, TCP_KEEP_ALIVE, hostOf, tlsOptions } from './tls-options.ts';

/** The session took no stream: it is going away. Another one may take it, nothing was carried out. */
export class SessionGoneError extends UnreachableError {
  override name = 'SessionGoneError';
}

/** A stream that began: its headers came, its body is coming. */
export interface OpenedStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: EndableBody;
}

/** Headers of a request, pseudo-headers among them. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** Options of {@link Http2Session.open}. */
export interface StreamOptions {
  /** Cuts the stream, also when it has begun. */
  readonly signal: AbortSignal;
  /** Called when the stream is over, however it ended. */
  readonly onClose: () => void;
}

/** Options of {@link Http2Session}. */
export interface Http2SessionOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: Random;
  /** How many streams the server is expected to let in, until it says so itself. */
  readonly expectedLimit: number;
  /** Called when the server said goodbye: no streams are taken any longer. */
  readonly onDraining: () => void;
  /** Called once, when the session is over: broken, drained, or unused for long. */
  readonly onGone: () => void;
}

/**
 * An API server lets 100 streams in, and a client that opens more hangs silently: nghttp2 keeps them until others end.
 * Some room is left, because the server counts a stream until it has seen its end.
 */
export const MAX_STREAMS = 80;

/**
 * As client-go: a session on which nothing came for 30 s is asked for a sign of life, and given 15 s for it. Looked at
 * every 5 s, so that silence is known for 25 s when it has lasted for 30 at most.
 */
const LOOK_INTERVAL = 5000;
const READ_IDLE = 25_000;
const PING_TIMEOUT = 14_000;
/** After a stall of this process its timers run before what has arrived meanwhile is read: the answer gets a moment. */
const PING_GRACE = 1000;

/** Streams of a server that says goodbye are moved within this time, not all at once. */
const MOVE_WITHIN = 5000;

/** How long a session without streams is kept. */
const UNUSED = 60_000;

/** One stream may be this far ahead of who reads it: at 64 KiB, 50 ms of distance would be 1.3 MB/s. */
const STREAM_WINDOW = 1024 * 1024;
/** All streams together: so much that no set of streams that nobody reads can stop the others. */
const SESSION_WINDOW = MAX_STREAMS * STREAM_WINDOW;
/** Node's own bound in MB for what it holds for a session, which must not be met before the windows. */
const SESSION_MEMORY = 128;

type State = 'dialing' | 'open' | 'draining' | 'gone';

/** One HTTP/2 connection to an API server, which carries many streams. Opened by its constructor. */
export class Http2Session {
  /** Which protocol the server chose, as soon as streams can be opened. Rejects when there is no connection. */
  readonly ready: Promise<'h2' | 'http/1.1'>;
  readonly #options: Http2SessionOptions;
  readonly #bodies = new Set<EndableBody>();
  #state: State = 'dialing';
  #reserved = 0;
  #limit: number;
  #socket: TLSSocket | undefined;
  #session: ClientHttp2Session | undefined;
  #stopWatchdog: Cancel = () => undefined;
  #stopUnused: Cancel = () => undefined;

  constructor(options: Http2SessionOptions) {
    this.#options = options;
    this.#limit = options.expectedLimit;
    this.ready = this.#dial();
    this.ready.catch(() => this.#gone());
  }

  /** Whether one more stream may be opened, as far as is known. */
  get hasRoom(): boolean {
    return (this.#state === 'dialing' || this.#state === 'open') && this.#reserved < this.#limit;
  }

  /** How many streams the server lets in, as far as is known. */
  get limit(): number {
    return this.#limit;
  }

  /** Takes room for one stream, given back by what it answers; before {@link ready} is waited for. */
  reserve(): Cancel {
    this.#reserved += 1;
    this.#stopUnused();
    this.#session?.ref();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#reserved -= 1;
      // Streams close after their connection has: then there is nothing left to be unused.
      if (this.#reserved > 0 || this.#state === 'gone') return;
      this.#session?.unref();
      this.#stopUnused = this.#options.clock.after(UNUSED, () => this.destroy());
    };
  }

  /** Whether the server's own limit, which is known since {@link ready}, leaves the reserved room. */
  get isWithinLimit(): boolean {
    return this.#reserved <= this.#limit;
  }

  /**
   * Opens a stream and resolves when its headers have come.
   *
   * @throws SessionGoneError when another session may do it
   */
  async open(headers: RequestHeaders, { signal, onClose }: StreamOptions): Promise<OpenedStream> {
    signal.throwIfAborted();
    if (this.#session === undefined) throw gone();
    const stream = request(this.#session, headers);
    const body = new EndableBody(stream);
    const abort = (): void => void stream.destroy();
    this.#bodies.add(body);
    signal.addEventListener('abort', abort, { once: true });
    body.onClose(() => {
      this.#bodies.delete(body);
      signal.removeEventListener('abort', abort);
      onClose();
    });
    const received = await firstHeaders(stream);
    return { status: Number(received[':status']), headers: received, body };
  }

  /** The server said goodbye. Streams are ended within some seconds, as if it had ended them; it may leave them mute. */
  #drain(): void {
    if (this.#state !== 'dialing' && this.#state !== 'open') return;
    this.#state = 'draining';
    this.#options.onDraining();
    const { clock, random } = this.#options;
    if (this.#bodies.size === 0) this.destroy();
    for (const body of this.#bodies) clock.after(random() * MOVE_WITHIN, () => body.end());
    clock.after(MOVE_WITHIN, () => this.destroy());
  }

  /** Cuts the connection and with it every stream. */
  destroy(error?: Error): void {
    this.#session?.destroy(error);
    this.#socket?.destroy(error);
    this.#gone();
  }

  async #dial(): Promise<'h2' | 'http/1.1'> {
    const url = new URL(this.#options.connection.server);
    const socket = connectTls({
      ...tlsOptions(this.#options.connection),
      host: hostOf(url),
      port: url.port === '' ? 443 : Number(url.port),
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    this.#socket = socket;
    const cancel = this.#options.clock.after(CONNECT_TIMEOUT, () => {
      socket.destroy(new UnreachableError(`no connection within ${CONNECT_TIMEOUT / 1000} s`, 'CONNECT_TIMEOUT'));
    });
    try {
      await occurrence(socket, 'secureConnect');
      socket.setKeepAlive(true, TCP_KEEP_ALIVE).setNoDelay(true);
      if (socket.alpnProtocol !== 'h2') {
        this.destroy();
        return 'http/1.1';
      }
      await this.#begin(url.origin, socket);
      return 'h2';
    } finally {
      cancel();
    }
  }

  /** Begins HTTP/2 on a socket. How many streams the server takes is in the settings that it sends first. */
  async #begin(origin: string, socket: TLSSocket): Promise<void> {
    const session = connectHttp2(origin, {
      createConnection: () => socket,
      settings: { initialWindowSize: STREAM_WINDOW, enablePush: false },
      maxSessionMemory: SESSION_MEMORY,
    });
    this.#session = session;
    session.on('remoteSettings', ({ maxConcurrentStreams = MAX_STREAMS }) => {
      this.#limit = Math.max(1, Math.min(MAX_STREAMS, maxConcurrentStreams));
    });
    session.on('goaway', () => this.#drain());
    session.on('close', () => this.#gone());
    await occurrence(session, 'remoteSettings');
    session.setLocalWindowSize(SESSION_WINDOW);
    if (this.#state !== 'dialing') throw gone();
    this.#state = 'open';
    this.#watch(session, socket);
  }

  /** Looks again and again whether anything came meanwhile; a ping that is not answered ends the session. */
  #watch(session: ClientHttp2Session, socket: TLSSocket, quiet = 0): void {
    const heard = socket.bytesRead;
    this.#wait(LOOK_INTERVAL, () => {
      const silence = socket.bytesRead === heard ? quiet + LOOK_INTERVAL : 0;
      if (silence < READ_IDLE) {
        this.#watch(session, socket, silence);
        return;
      }
      this.#wait(PING_TIMEOUT, () => {
        this.#wait(PING_GRACE, () => {
          this.destroy(new UnreachableError('the connection is dead: no answer to a ping', 'PING_TIMEOUT'));
        });
      });
      session.ping((error) => {
        if (error === null) this.#watch(session, socket);
      });
    });
  }

  /** Waits for one thing at a time: what was waited for before is waited for no longer. */
  #wait(milliseconds: number, callback: () => void): void {
    this.#stopWatchdog();
    this.#stopWatchdog = this.#options.clock.after(milliseconds, callback);
  }

  #gone(): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    this.#stopWatchdog();
    this.#stopUnused();
    this.#options.onGone();
  }
}

function gone(cause?: unknown): SessionGoneError {
  return new SessionGoneError('the HTTP/2 session is going away', 'SESSION_GONE', { cause });
}

/** `request` throws at once when a GOAWAY has come or the session has ended. */
function request(session: ClientHttp2Session, headers: RequestHeaders): ClientHttp2Stream {
  try {
    return session.request(headers, { endStream: true });
  } catch (cause) {
    throw gone(cause);
  }
}

async function firstHeaders(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingHttpHeaders>();
  stream.once('response', resolve);
  // Later errors reach whoever reads the body; without a listener they would end the process when nobody does.
  stream.on('error', (error) => reject(isRefused(stream) ? gone(error) : error));
  stream.once('close', () =>
    reject(isRefused(stream) ? gone() : new UnreachableError('the stream ended', 'ECONNRESET')),
  );
  return promise;
}

/** The server did not begin with it: it had said goodbye before the request reached it. */
function isRefused(stream: ClientHttp2Stream): boolean {
  return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
}

/** Resolves when something happens for the first time. Errors are listened for as long as the emitter lives. */
function occurrence(emitter: TLSSocket | ClientHttp2Session, event: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  emitter.once(event, () => resolve());
  emitter.on('error', reject);
  emitter.once('close', () => reject(new UnreachableError('the connection was closed', 'ECONNRESET')));
  return promise;
}
