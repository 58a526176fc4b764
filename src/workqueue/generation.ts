import { Script } from '../redis/index.ts';
import type { Redis } from '../redis/index.ts';
import { generationKey } from './queue-names.ts';

const readOrWrite = new Script(`
  local generation = redis.call('GET', KEYS[1])
  if generation then return generation end
  redis.call('SET', KEYS[1], ARGV[1])
  return ARGV[1]`);

/**
 * Recognises a Redis that was emptied. A key holds a random generation, written by whoever misses it; each replica
 * remembers the one that it saw first. A replica that sees another one knows that what it wrote before may be gone, also
 * when a faster replica has written the key again.
 */
export class Generation {
  readonly #redis: () => Redis;
  readonly #key: string;
  readonly #next: () => string;
  #known: string | undefined;

  constructor(options: { readonly redis: () => Redis; readonly keyPrefix: string; readonly next: () => string }) {
    this.#redis = options.redis;
    this.#key = generationKey(options.keyPrefix);
    this.#next = options.next;
  }

  /** Whether a generation was seen: what is written from then on is either kept or known to be lost. */
  get known(): boolean {
    return this.#known !== undefined;
  }

  /** Looks again. Returns whether Redis lost what was written since the last time. Rejects while Redis is down. */
  async check(): Promise<boolean> {
    const seen = String(await readOrWrite.run(this.#redis(), [this.#key], [this.#next()]));
    const lost = this.#known !== undefined && this.#known !== seen;
    this.#known = seen;
    return lost;
  }
}
