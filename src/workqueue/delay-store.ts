import { Script } from '../redis/index.ts';
import type { Redis } from '../redis/index.ts';
import type { QueueNames } from './queue-names.ts';

/** Of controller-runtime's default limiter. */
const BACKOFF_BASE = 5;
const BACKOFF_MAX = 1_000_000;

/** A key whose time has come, and which time that was. */
export interface DueKey {
  readonly key: string;
  readonly dueAt: string;
}

const now = `local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) `;

/** LT keeps the earliest of several times. */
const addAfter = new Script(`${now}
  for i = 1, #ARGV, 2 do redis.call('ZADD', KEYS[1], 'LT', now + ARGV[i + 1], ARGV[i]) end
  return 0`);

const backOff = new Script(`${now}
  local failures = redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
  local delay = math.max(math.min(ARGV[2] * 2 ^ math.min(failures - 1, 40), ARGV[3]), ARGV[4])
  redis.call('ZADD', KEYS[1], 'LT', now + delay, ARGV[1])
  return {failures, delay}`);

const due = new Script(`${now}
  local reply = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'WITHSCORES', 'LIMIT', 0, ARGV[1])
  local following = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  table.insert(reply, 1, following[2] and math.ceil(following[2] - now) or -1)
  return reply`);

/** A key that was given an earlier time meanwhile stays. */
const acknowledge = new Script(`
  for i = 1, #ARGV, 2 do
    local score = redis.call('ZSCORE', KEYS[1], ARGV[i])
    if score and tonumber(score) == tonumber(ARGV[i + 1]) then redis.call('ZREM', KEYS[1], ARGV[i]) end
  end
  return 0`);

/** The delays and failures of one queue. Redis' clock is the only one that counts. Every call rejects while Redis is down. */
export class DelayStore {
  readonly #redis: () => Redis;
  readonly #names: QueueNames;
  /** Keys that may have failures: spares a success the round trip that forgets nothing. */
  readonly #failing = new Set<string>();
  #isLoaded = false;

  constructor(redis: () => Redis, names: QueueNames) {
    this.#redis = redis;
    this.#names = names;
  }

  /** Whether it is known which keys have failures: until then, every success costs a round trip. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Reads which keys have failures. Only the queue's owner may rely on it: nobody else counts them meanwhile. */
  async load(): Promise<void> {
    this.#isLoaded = false;
    for (const key of await this.#redis().hkeys(this.#names.fail)) this.#failing.add(key);
    this.#isLoaded = true;
  }

  /** Makes keys due after a time each; a key that is due earlier stays so. */
  async addAfter(delays: ReadonlyMap<string, number>): Promise<void> {
    await addAfter.run(this.#redis(), [this.#names.due], [...delays].flat());
  }

  /** Counts a failure, and makes the key due after its backoff, which is at least so many milliseconds. */
  async backOff(key: string, least = 0): Promise<{ readonly failures: number; readonly delay: number }> {
    this.#failing.add(key);
    const keys = [this.#names.due, this.#names.fail];
    const reply = await backOff.run(this.#redis(), keys, [key, BACKOFF_BASE, BACKOFF_MAX, Math.ceil(least)]);
    const [failures, delay] = reply as [number, number];
    return { failures, delay };
  }

  /** Deletes everything that there is of the queue. */
  async remove(): Promise<void> {
    await this.#redis().del(this.#names.due, this.#names.fail);
    this.#failing.clear();
  }

  /** Resets a key's backoff. */
  async forget(key: string): Promise<void> {
    if (this.#isLoaded && !this.#failing.has(key)) return;
    await this.#redis().hdel(this.#names.fail, key);
    this.#failing.delete(key);
  }

  /** At most so many keys whose time has come, and the milliseconds until the time of the next comes. */
  async due(limit: number): Promise<{ readonly keys: readonly DueKey[]; readonly next: number | undefined }> {
    const [next, ...flat] = (await due.run(this.#redis(), [this.#names.due], [limit])) as [number, ...string[]];
    const keys: DueKey[] = [];
    for (let index = 0; index < flat.length; index += 2) {
      keys.push({ key: flat[index] ?? '', dueAt: flat[index + 1] ?? '' });
    }
    return { keys, next: next < 0 ? undefined : next };
  }

  /** Removes keys that were made ready. Called after that: a crash in between only runs them twice. */
  async acknowledge(keys: readonly DueKey[]): Promise<void> {
    const values = keys.flatMap(({ key, dueAt }) => [key, dueAt]);
    await acknowledge.run(this.#redis(), [this.#names.due], values);
  }
}
