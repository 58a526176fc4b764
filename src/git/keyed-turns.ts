/** One at a time per key, in the order of asking. */
export class KeyedTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the work when all earlier work under this key has ended, well or badly. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
