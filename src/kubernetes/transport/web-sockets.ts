import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { Clock } from '../../kernel/index.ts';
import type { Connection } from '../connection/connection.ts';
import { Deadline } from './deadline.ts';
import { describeRequest, headOf, isRedirect, readText, redirectRefused, translate } from './exchange.ts';
import type { Answer, AnswerHead, TransportRequest } from './exchange.ts';
import { tlsOptions } from './tls-options.ts';

/** A request for a WebSocket, with the subprotocols that the caller speaks, the dearest first. */
export interface UpgradeRequest extends TransportRequest {
  readonly protocols: readonly string[];
}

/** The server agreed. The socket is paused, so that nothing is lost until somebody listens. */
export interface UpgradedAnswer extends Answer {
  readonly socket: WebSocket;
}

/** Streams come in messages of 32 KiB; the largest that anybody sends is far below this. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/**
 * The WebSockets to one API server, each on a connection of its own.
 *
 * By `ws` and not by undici's client, because that one is a browser's: it keeps status and body of a refusal to itself,
 * where the API server says "not found" and "forbidden"; it cannot stop reading, so that a slow reader fills the memory;
 * and it does not tell when a message has left.
 */
export class WebSockets {
  readonly #clock: Clock;
  readonly #sockets = new Set<WebSocket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Shakes hands. A refusal is an answer without a socket.
   *
   * @throws UnreachableError without an answer, UnexpectedAnswerError for a redirect, and the signal's reason
   */
  async open(request: UpgradeRequest, connection: Connection): Promise<Answer | UpgradedAnswer> {
    const { timeout: milliseconds, signal } = request;
    const deadline = new Deadline(this.#clock, { milliseconds, what: describeRequest(request), signal });
    const socket = this.#dial(request, connection);
    const abort = (): void => socket.terminate();
    deadline.signal.addEventListener('abort', abort, { once: true });
    if (deadline.signal.aborted) abort();
    try {
      return await shaken(socket, request);
    } catch (error) {
      throw translate(error, request, deadline.signal);
    } finally {
      deadline.signal.removeEventListener('abort', abort);
      deadline.cancel();
    }
  }

  /** Cuts all of them. */
  close(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  #dial({ path, headers, protocols }: UpgradeRequest, connection: Connection): WebSocket {
    const { host, pathname } = new URL(connection.server);
    const socket = new WebSocket(`wss://${host}${pathname.replace(/\/+$/, '')}${path}`, [...protocols], {
      ...tlsOptions(connection),
      headers: { ...headers },
      followRedirects: false,
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
    });
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }
}

async function shaken(socket: WebSocket, request: UpgradeRequest): Promise<Answer | UpgradedAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer | UpgradedAnswer>();
  let head: AnswerHead = headOf(101, {});
  // Stays for the socket's life: after the handshake, errors are told by its closing as well.
  socket.on('error', reject);
  socket.once('upgrade', ({ headers }) => {
    head = headOf(101, headers);
  });
  socket.once('open', () => {
    socket.pause();
    resolve({ ...head, text: '', socket });
  });
  socket.once('unexpected-response', (_, response) => {
    refusal(response, request)
      .then(resolve, reject)
      .finally(() => socket.terminate());
  });
  return promise;
}

async function refusal(response: IncomingMessage, request: UpgradeRequest): Promise<Answer> {
  const { statusCode = 0, headers } = response;
  if (isRedirect(statusCode)) throw redirectRefused(statusCode, request);
  return { ...headOf(statusCode, headers), text: await readText(response, request) };
}
