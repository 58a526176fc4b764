/** A map that forgets what was longest not set. Who looks something up sets it after, so this is client-go's LRU. */
export class RecentMap<Value> {
  readonly #limit: number;
  readonly #entries = new Map<string, Value>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
