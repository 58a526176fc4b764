import { Duplex } from 'node:stream';
import type { Readable } from 'node:stream';
import type { Clock } from '../../kernel/index.ts';
import { ApiError, UnexpectedAnswerError } from '../api-errors.ts';
import type { ChannelSocket } from './channel-socket.ts';
import { Deadline, untilAborted } from '../transport/deadline.ts';
import type { WriteContext } from '../identity.ts';
import type { OpenSocket } from './pod-exec.ts';
import { UnsendableError } from '../unsendable-error.ts';

/** What forwarding a port needs. */
export interface PortForwardContext {
  /** "forward port 6379 of Pod shop/cache-0", the beginning of messages. */
  readonly what: string;
  readonly clock: Clock;
  readonly open: OpenSocket;
  readonly write: WriteContext;
  /** Milliseconds until both channels have begun. */
  readonly timeout: number;
}

const DATA = 0;
const ERRORS = 1;
/** What is read of an error's text. */
const MAX_ERROR_BYTES = 4096;

/**
 * A connection to a port of a pod, as a stream. Both channels begin with the port, two bytes with the low one first; then
 * one carries the data and the other, if need be, why there is none.
 */
export async function forwardPort(port: number, context: PortForwardContext): Promise<Duplex> {
  const { what, clock, open, write, timeout: milliseconds } = context;
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new UnsendableError(`${what}: there is no such port`);
  const deadline = new Deadline(clock, { milliseconds, what, signal: write.signal });
  try {
    const socket = await open(new URLSearchParams({ ports: String(port) }), [DATA, ERRORS], deadline.signal);
    try {
      const begun = Promise.all([DATA, ERRORS].map((channel) => readPort(socket.reader(channel))));
      const ports = await untilAborted(begun, deadline.signal);
      if (ports.some((answered) => answered !== port)) {
        throw new UnexpectedAnswerError(`${what}: answered with the ports ${ports.join(' and ')}`);
      }
      return new PortStream(socket, what, write.signal);
    } catch (error) {
      socket.abort(error as Error);
      throw error;
    }
  } finally {
    deadline.cancel();
  }
}

/** The port that a channel begins with; undefined when it ends before. */
async function readPort(reader: Readable): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const look = (): void => {
    const bytes = reader.read(2) as Buffer | null;
    if (bytes?.length === 2) resolve(bytes.readUInt16LE());
    else if (bytes !== null || reader.readableEnded) resolve(undefined);
  };
  reader.on('readable', look).on('end', look).on('error', reject).on('close', look);
  look();
  try {
    return await promise;
  } finally {
    reader.off('readable', look).off('end', look).off('error', reject).off('close', look);
  }
}

/** The data channel as a stream; text on the channel of errors is its error. */
class PortStream extends Duplex {
  readonly #socket: ChannelSocket;
  readonly #data: Readable;
  readonly #what: string;
  readonly #signal: AbortSignal | undefined;
  readonly #abort = (): void => void this.destroy(this.#signal?.reason as Error);

  constructor(socket: ChannelSocket, what: string, signal: AbortSignal | undefined) {
    // The protocol cannot end one direction alone: who ends writing ends the connection.
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#what = what;
    this.#signal = signal;
    this.#data = socket.reader(DATA);
    this.#data.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) this.#data.pause();
    });
    this.#data.on('end', () => this.push(null)).on('error', (error) => this.destroy(error));
    void this.#watchErrors(socket.reader(ERRORS));
    signal?.addEventListener('abort', this.#abort, { once: true });
    if (signal?.aborted === true) this.#abort();
  }

  override _read(): void {
    this.#data.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, callback: (error?: Error) => void): void {
    void this.#send(chunk, callback);
  }

  override _final(callback: () => void): void {
    this.#socket.close();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#socket.abort(error ?? new UnexpectedAnswerError(`${this.#what}: the stream was closed`));
    callback(error);
  }

  async #send(chunk: Buffer, callback: (error?: Error) => void): Promise<void> {
    try {
      await this.#socket.send(DATA, chunk);
    } catch (error) {
      callback(error as Error);
      return;
    }
    callback();
  }

  async #watchErrors(reader: Readable): Promise<void> {
    let text = '';
    try {
      for await (const chunk of reader as AsyncIterable<Buffer>) {
        if (text.length < MAX_ERROR_BYTES) text += chunk.toString('utf8');
      }
    } catch (error) {
      this.destroy(error as Error);
      return;
    }
    if (text !== '') this.destroy(new ApiError(`${this.#what}: ${text.slice(0, MAX_ERROR_BYTES).trim()}`));
  }
}
