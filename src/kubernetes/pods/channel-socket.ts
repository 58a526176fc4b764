import { Readable } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Cancel, Clock } from '../../kernel/index.ts';
import { UnexpectedAnswerError, UnreachableError } from '../api-errors.ts';

/** Options of {@link ChannelSocket}. */
export interface ChannelSocketOptions {
  /** "exec in Pod shop/cache-0", the beginning of messages. */
  readonly what: string;
  readonly clock: Clock;
  /** The channels that are read. What comes on others is thrown away, as client-go does. */
  readonly channels: readonly number[];
}

/** The subprotocol that can end a channel: a message on the channel 255 which names it. */
export const ENDING_PROTOCOL = 'v5.channel.k8s.io';
export const FORMER_PROTOCOL = 'v4.channel.k8s.io';

const END_OF_CHANNEL = 255;
const NORMAL_CLOSURE = 1000;
/** Bytes of a message, as client-go writes them. */
const MESSAGE_BYTES = 32 * 1024;
/** What is kept of a channel that nobody reads, bytes; then the connection is not read any further. */
const CHANNEL_BUFFER = 64 * 1024;
/** A ping so often, and after this silence the other side is given up. Milliseconds. */
const PING_INTERVAL = 15_000;
const MAX_SILENCE = 60_000;

/**
 * A WebSocket that carries several streams, told apart by the first byte of each message
 * (`k8s.io/streaming/pkg/httpstream/wsstream`).
 *
 * They share one connection, so whoever does not read a channel holds up all of them, and at last the other side.
 * A connection that ends in any other way than by a normal closure is an error of every channel.
 */
export class ChannelSocket {
  readonly protocol: string;
  readonly #socket: WebSocket;
  readonly #what: string;
  readonly #clock: Clock;
  readonly #channels: ReadonlyMap<number, Readable>;
  readonly #full = new Set<Readable>();
  #heardAt: number;
  #stopPinging: Cancel = () => undefined;

  /** Takes over a socket that is paused. */
  constructor(socket: WebSocket, { what, clock, channels }: ChannelSocketOptions) {
    this.protocol = socket.protocol;
    this.#socket = socket;
    this.#what = what;
    this.#clock = clock;
    this.#heardAt = clock.monotonic();
    this.#channels = new Map(channels.map((channel) => [channel, this.#openReader()]));
    socket.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary));
    socket.on('pong', () => this.#hear());
    socket.on('close', (code, reason) => this.#closed(code, String(reason)));
    socket.resume();
    this.#ping();
  }

  /** What comes on a channel. It ends when the connection is closed. */
  reader(channel: number): Readable {
    const reader = this.#channels.get(channel);
    if (reader === undefined) throw new TypeError(`channel ${channel} is not read`);
    return reader;
  }

  /** Resolves when the bytes have been handed to the system: who waits for it sends no faster than the other side reads. */
  async send(channel: number, bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; start += MESSAGE_BYTES) {
      await this.#sendMessage([channel], bytes.subarray(start, start + MESSAGE_BYTES));
    }
  }

  /** Says that nothing more comes on a channel. Only {@link ENDING_PROTOCOL} can. */
  async end(channel: number): Promise<void> {
    await this.#sendMessage([END_OF_CHANNEL, channel], new Uint8Array());
  }

  /** Ends the connection after what was sent. Readers get what the other side still sends until it answers. */
  close(): void {
    this.#socket.close(NORMAL_CLOSURE);
  }

  /** Everything has come that was waited for: readers end, whatever becomes of the connection. */
  finish(): void {
    for (const reader of this.#channels.values()) reader.push(null);
    this.close();
  }

  /** Cuts the connection: this is every reader's error. */
  abort(error: Error): void {
    for (const reader of this.#channels.values()) reader.destroy(error);
    this.#socket.terminate();
  }

  #openReader(): Readable {
    const reader: Readable = new Readable({
      highWaterMark: CHANNEL_BUFFER,
      read: () => this.#release(reader),
      destroy: (error, callback) => {
        this.#release(reader);
        callback(error);
      },
    });
    // The same error is told by every reader, and not every one has a listener at every time.
    reader.on('error', () => undefined);
    return reader;
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#hear();
    if (!isBinary) this.abort(new UnexpectedAnswerError(`${this.#what}: a message is text, not bytes`));
    const reader = this.#channels.get(data[0] ?? END_OF_CHANNEL);
    // A message without content says that the channel is open.
    if (reader === undefined || reader.destroyed || data.length < 2) return;
    if (reader.push(data.subarray(1))) return;
    this.#full.add(reader);
    this.#socket.pause();
  }

  #release(reader: Readable): void {
    if (!this.#full.delete(reader) || this.#full.size > 0) return;
    this.#hear();
    this.#socket.resume();
  }

  #closed(code: number, reason: string): void {
    this.#stopPinging();
    const how = reason === '' ? `code ${code}` : `code ${code}: ${reason}`;
    for (const reader of this.#channels.values()) {
      if (reader.readableEnded) continue;
      if (code === NORMAL_CLOSURE) reader.push(null);
      else reader.destroy(new UnreachableError(`${this.#what}: the connection broke (${how})`, 'ECONNRESET'));
    }
  }

  async #sendMessage(head: readonly number[], bytes: Uint8Array): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#socket.send(Buffer.concat([Uint8Array.from(head), bytes]), (error) => {
      if (error) reject(new UnreachableError(`${this.#what}: ${error.message}`, undefined, { cause: error }));
      else resolve();
    });
    return promise;
  }

  #hear(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  /** A connection that is not read on purpose brings no pong, and is not given up for it. */
  #ping(): void {
    this.#stopPinging = this.#clock.after(PING_INTERVAL, () => {
      const isSilent = this.#full.size === 0 && this.#clock.monotonic() - this.#heardAt > MAX_SILENCE;
      if (isSilent) {
        const message = `${this.#what}: nothing was heard for ${MAX_SILENCE / 1000} s`;
        return this.abort(new UnreachableError(message, 'TIMEOUT'));
      }
      if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
      return this.#ping();
    });
  }
}
