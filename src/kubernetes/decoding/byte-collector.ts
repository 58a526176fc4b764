import { UnexpectedAnswerError } from '../api-errors.ts';

/** What is kept for the next text; a larger buffer is let go. */
const KEPT_BYTES = 64 * 1024;

/**
 * Gathers the bytes of one text that comes in pieces, and decodes it when it is whole: a character may be cut by a chunk.
 *
 * The pieces are copied into one buffer. Kept as they come, a text sent byte by byte would cost a hundred times its size.
 */
export class ByteCollector {
  readonly #maxBytes: number;
  readonly #what: string;
  #bytes = Buffer.alloc(0);
  #length = 0;

  /** @param what what a text is, for the error's message */
  constructor(maxBytes: number, what: string) {
    this.#maxBytes = maxBytes;
    this.#what = what;
  }

  /** Adds `chunk[start, end)`. @throws UnexpectedAnswerError when the text becomes too large */
  append(chunk: Buffer, start: number, end: number): void {
    this.#reserve(end - start);
    chunk.copy(this.#bytes, this.#length, start, end);
    this.#length += end - start;
  }

  /** The text that ends with `chunk[start, end)`. @throws UnexpectedAnswerError when it is too large */
  take(chunk: Buffer, start: number, end: number): string {
    if (this.#length === 0) {
      this.#assertSize(end - start);
      return chunk.toString('utf8', start, end);
    }
    this.append(chunk, start, end);
    const text = this.#bytes.toString('utf8', 0, this.#length);
    this.#length = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.alloc(0);
    return text;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    this.#assertSize(needed);
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length, 1024));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  #assertSize(bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    throw new UnexpectedAnswerError(`${this.#what}: the server sent more than ${this.#maxBytes} bytes`);
  }
}
