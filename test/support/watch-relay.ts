import type { IncomingMessage } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';

/** What comes in place of an event's line, and whether the watch ends with it. */
export interface Interference {
  readonly line: Buffer;
  readonly isEnd: boolean;
}

const NEWLINE = 0x0a;
const BOOKMARK = Buffer.from('{"type":"BOOKMARK"');

/** Passes a watch on, whole lines at a time, so that it can be ended between two events or have one replaced. */
export class WatchRelay {
  readonly #upstream: IncomingMessage;
  readonly #response: Http2ServerResponse;
  readonly #interfere: (event: Buffer) => Interference | undefined;
  #isClosed = false;
  /** Goes on with what waits for the client to take more. */
  #resume: () => void = () => undefined;

  /** `interfere` is asked before each event, bookmarks aside. */
  constructor(
    upstream: IncomingMessage,
    response: Http2ServerResponse,
    interfere: (event: Buffer) => Interference | undefined,
  ) {
    this.#upstream = upstream;
    this.#response = response;
    this.#interfere = interfere;
    response.on('drain', () => this.#resume());
    response.on('close', () => {
      this.#isClosed = true;
      this.#resume();
    });
  }

  /** Ends when the server or {@link end} ends the watch. @throws when the server goes away; the client may, at any time */
  async run(): Promise<void> {
    try {
      await this.#passAll();
    } catch (error) {
      if (!this.#response.writableEnded) throw error;
    }
  }

  /** Ends the watch as a server does when its time is over. */
  end(): void {
    this.#response.end();
    this.#upstream.destroy();
  }

  async #passAll(): Promise<void> {
    let pending = Buffer.alloc(0);
    for await (const chunk of this.#upstream as AsyncIterable<Buffer>) {
      const bytes = Buffer.concat([pending, chunk]);
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        const isOver = await this.#pass(bytes.subarray(start, end + 1));
        if (isOver) return;
        start = end + 1;
      }
      pending = bytes.subarray(start);
    }
    this.#response.end();
  }

  async #pass(line: Buffer): Promise<boolean> {
    if (this.#response.writableEnded || this.#isClosed) return true;
    const isEvent = !line.subarray(0, BOOKMARK.length).equals(BOOKMARK);
    const interference = isEvent ? this.#interfere(line) : undefined;
    const isTaken = this.#response.write(interference?.line ?? line);
    if (interference?.isEnd === true) {
      this.end();
      return true;
    }
    if (!isTaken) await this.#drained();
    return this.#isClosed;
  }

  #drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resume = resolve;
    if (this.#isClosed) resolve();
    return promise;
  }
}
