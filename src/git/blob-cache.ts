/** The texts of one repository's files that are still at hand, by object name. */
export interface BlobTexts {
  get(oid: string): string | undefined;
  set(oid: string, text: string): void;
}

/**
 * Texts of files, least recently used first out: a commit mostly has the files of the one before.
 *
 * Each clone sees its own texts only. Otherwise a repository could show what another one holds by naming the object in
 * a tree, without having it.
 */
export class BlobCache {
  readonly #capacity: number;
  #length = 0;
  readonly #texts = new Map<string, string>();

  /** @param capacity - how many characters to keep in all */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The part of the cache that belongs to a clone. */
  of(clone: string): BlobTexts {
    return {
      get: (oid) => this.#get(`${clone}\0${oid}`),
      set: (oid, text) => this.#set(`${clone}\0${oid}`, text),
    };
  }

  #get(key: string): string | undefined {
    const text = this.#texts.get(key);
    if (text !== undefined) {
      // A Map iterates in the order of insertion.
      this.#texts.delete(key);
      this.#texts.set(key, text);
    }
    return text;
  }

  #set(key: string, text: string): void {
    if (this.#texts.has(key) || text.length > this.#capacity) return;
    this.#texts.set(key, text);
    this.#length += text.length;
    for (const [oldest, { length }] of this.#texts) {
      if (this.#length <= this.#capacity) return;
      this.#texts.delete(oldest);
      this.#length -= length;
    }
  }
}
