import { Script } from '../redis/index.ts';
import type { Redis } from '../redis/index.ts';

const readOrWrite = new Script(`
  local server = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
  local generation = redis.call('GET', KEYS[1])
  if not generation then
    generation = ARGV[1]
    redis.call('SET', KEYS[1], generation)
  end
  return generation .. ' ' .. server`);

/**
 * Recognises a Redis that was emptied. A key holds a random generation, written by whoever misses it; each replica
 * remembers the one that it saw first. A replica that sees another one knows that what it wrote before may be gone, also
 * when a faster replica has written the key again. The same goes for another server process under the same address: one
 * that was promoted, or restarted from a file, may lack the last second.
 */
export class Generation {
  readonly #redis: () => Redis;
  readonly #key: string;
  readonly #next: () => string;
  #known: string | undefined;

  constructor(options: { readonly redis: () => Redis; readonly key: string; readonly next: () => string }) {
    this.#redis = options.redis;
    this.#key = options.key;
    this.#next = options.next;
  }

  /** Whether a generation was seen: what is written from then on is either kept or known to be lost. */
  get known(): boolean {
    return this.#known !== undefined;
  }

  /** Deletes the key: nothing is written any more that could be lost. */
  async remove(): Promise<void> {
    this.#known = undefined;
    await this.#redis().del(this.#key);
  }

  /** Looks again. Returns whether Redis lost what was written since the last time. Rejects while Redis is down. */
  async check(): Promise<boolean> {
    const seen = String(await readOrWrite.run(this.#redis(), [this.#key], [this.#next()]));
    const lost = this.#known !== undefined && this.#known !== seen;
    this.#known = seen;
    return lost;
  }
}
