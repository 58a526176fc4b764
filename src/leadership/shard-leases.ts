import { Script } from '../redis/index.ts';
import type { Redis, RedisConnections } from '../redis/index.ts';

/** Who has a shard, as Redis says. */
export interface Claim {
  /** Empty when the shard was released. */
  readonly replica: string;
  readonly epoch: number;
}

/** What Redis answers to a renewal. */
export interface LeaseView {
  /** Whether the replica's lease was still there: if not, its claims may have been taken by others meanwhile. */
  readonly wasAlive: boolean;
  /** The replicas whose leases are there. */
  readonly replicas: readonly string[];
  readonly claims: ReadonlyMap<string, Claim>;
}

// KEYS[1] ZSET: replica → when its lease ends, by Redis' clock. KEYS[2] HASH: shard → "replica|epoch".
const prelude = `
  local t = redis.call('TIME')
  local now = t[1] * 1000 + math.floor(t[2] / 1000)
  local function read(shard)
    local replica, epoch = string.match(redis.call('HGET', KEYS[2], shard) or '', '^(.*)|(%d+)$')
    return replica or '', tonumber(epoch or 0)
  end
  local function write(shard, replica, epoch)
    redis.call('HSET', KEYS[2], shard, replica .. '|' .. string.format('%.0f', epoch))
  end
  local function alive(replica)
    local ends = redis.call('ZSCORE', KEYS[1], replica)
    return ends and tonumber(ends) > now
  end
`;

const renew = new Script(`${prelude}
  local wasAlive = alive(ARGV[1]) and 1 or 0
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
  return {wasAlive, redis.call('ZRANGE', KEYS[1], 0, -1), redis.call('HGETALL', KEYS[2])}`);

// ARGV: replica, then pairs of shard and lowest epoch. Always a new epoch, also over the replica's own claim.
const claim = new Script(`${prelude}
  local claimed = {}
  if not alive(ARGV[1]) then return claimed end
  for i = 2, #ARGV, 2 do
    local replica, epoch = read(ARGV[i])
    if replica == ARGV[1] or not alive(replica) then
      epoch = math.max(epoch + 1, now, tonumber(ARGV[i + 1]))
      write(ARGV[i], ARGV[1], epoch)
      table.insert(claimed, ARGV[i])
      table.insert(claimed, string.format('%.0f', epoch))
    end
  end
  return claimed`);

// ARGV: replica, shard, epoch, whether the shard is gone for good.
const release = new Script(`${prelude}
  local replica, epoch = read(ARGV[2])
  if replica ~= ARGV[1] or epoch ~= tonumber(ARGV[3]) then return 0 end
  if ARGV[4] == '1' then redis.call('HDEL', KEYS[2], ARGV[2]) else write(ARGV[2], '', epoch) end
  return 1`);

// ARGV: replica.
const leave = new Script(`${prelude}
  redis.call('ZREM', KEYS[1], ARGV[1])
  for _, shard in ipairs(redis.call('HKEYS', KEYS[2])) do
    local replica, epoch = read(shard)
    if replica == ARGV[1] then write(shard, '', epoch) end
  end
  return 0`);

/**
 * The lease of one replica and its claims, in Redis. Epochs are at least Redis' time in milliseconds, so that they grow
 * even when Redis forgets. Every call rejects when Redis does not answer in time; then it may or may not have happened.
 */
export class ShardLeases {
  readonly #redis: () => Redis;
  readonly #keys: readonly [string, string];
  readonly #replica: string;
  readonly #duration: number;

  constructor(options: { readonly redis: RedisConnections; readonly replica: string; readonly duration: number }) {
    const { redis, replica, duration } = options;
    this.#redis = () => redis.lease();
    this.#keys = [`${redis.prefix}:{shards}:replicas`, `${redis.prefix}:{shards}:claims`];
    this.#replica = replica;
    this.#duration = duration;
  }

  /** Renews the replica's lease, or makes a new one. */
  async renew(): Promise<LeaseView> {
    const reply = await renew.run(this.#redis(), this.#keys, [this.#replica, this.#duration]);
    const [wasAlive, replicas, flat] = reply as [number, string[], string[]];
    const claims = new Map<string, Claim>();
    for (let index = 0; index < flat.length; index += 2) {
      claims.set(flat[index] ?? '', parseClaim(flat[index + 1] ?? ''));
    }
    return { wasAlive: wasAlive === 1, replicas: replicas.toSorted(), claims };
  }

  /** Claims shards that nobody alive has, each with an epoch of at least the given one. Returns the epochs of those it got. */
  async claim(shards: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    const values = [this.#replica, ...[...shards].flat()];
    const flat = (await claim.run(this.#redis(), this.#keys, values)) as string[];
    const claimed = new Map<string, number>();
    for (let index = 0; index < flat.length; index += 2) claimed.set(flat[index] ?? '', Number(flat[index + 1]));
    return claimed;
  }

  /** Gives up one claim, unless it is not the one that Redis has. */
  async release(shard: string, epoch: number, isGone: boolean): Promise<void> {
    await release.run(this.#redis(), this.#keys, [this.#replica, shard, epoch, isGone ? 1 : 0]);
  }

  /** Gives up all claims and the lease. */
  async leave(): Promise<void> {
    await leave.run(this.#redis(), this.#keys, [this.#replica]);
  }
}

/** Reads "replica|epoch"; what is not that counts as released. */
export function parseClaim(text: string): Claim {
  const bar = text.lastIndexOf('|');
  const epoch = Number(text.slice(bar + 1));
  return bar < 0 || !Number.isSafeInteger(epoch) ? { replica: '', epoch: 0 } : { replica: text.slice(0, bar), epoch };
}
