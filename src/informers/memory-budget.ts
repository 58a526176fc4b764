import { MemoryLimitError } from './informer-errors.ts';

const MEBIBYTE = 1024 * 1024;

/** How much memory the objects of one cluster may take, whatever the cluster sends. */
export class MemoryBudget {
  readonly #limit: number;
  #used = 0;

  /** @param limit bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Notes that so many bytes more, or fewer, are used. */
  add(bytes: number): void {
    this.#used += bytes;
  }

  /** @throws MemoryLimitError when there is no room for so many bytes more */
  assertRoom(bytes: number): void {
    this.assertFits(this.#used + bytes);
  }

  /** @throws MemoryLimitError when so many bytes are too many, whatever else is used */
  assertFits(bytes: number): void {
    if (bytes <= this.#limit) return;
    const allowed = Math.ceil(this.#limit / MEBIBYTE);
    throw new MemoryLimitError(`the objects of this cluster would take more than the allowed ${allowed} MiB`);
  }
}
