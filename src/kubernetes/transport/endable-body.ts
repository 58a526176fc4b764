import type { Readable } from 'node:stream';

/** A body that can be ended from here, which looks to its reader as if the server had ended it. */
export class EndableBody implements AsyncIterable<Buffer> {
  readonly #stream: Readable;
  #isEnded = false;

  constructor(stream: Readable) {
    this.#stream = stream;
  }

  /** Ends it. What has come and was not read is lost. */
  end(): void {
    this.#isEnded = true;
    this.#stream.destroy();
  }

  /** Calls back when it is over, however it ended. */
  onClose(callback: () => void): void {
    this.#stream.once('close', callback);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    try {
      for await (const chunk of this.#stream) yield chunk as Buffer;
    } catch (error) {
      if (!this.#isEnded) throw error;
    }
  }
}
