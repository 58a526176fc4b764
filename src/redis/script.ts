import { createHash } from 'node:crypto';
import type { Redis } from './redis-connections.ts';

/** A Lua script: atomic on the server, sent by its hash, and whole only when the server does not know it (any more). */
export class Script {
  readonly #lua: string;
  readonly #hash: string;

  constructor(lua: string) {
    this.#lua = lua;
    this.#hash = createHash('sha1').update(lua).digest('hex');
  }

  /** Runs the script. All keys must share a hash tag, so that it also runs on Redis Cluster. */
  async run(redis: Redis, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    try {
      return await redis.evalsha(this.#hash, keys.length, ...keys, ...values);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return redis.eval(this.#lua, keys.length, ...keys, ...values);
    }
  }
}
