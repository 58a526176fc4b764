/**
 * Where a shard's queue lies in Redis. The braces make the shard the hash tag, so that all keys of one queue lie on one
 * node of a Redis Cluster, and the queues spread over the nodes. BullMQ's own keys are `<prefix>:<queue>:…`.
 */
export interface QueueNames {
  /** BullMQ's `prefix`. */
  readonly prefix: string;
  /** BullMQ's queue name. */
  readonly queue: string;
  /** ZSET: key → when it is due, in milliseconds of Redis' clock. */
  readonly due: string;
  /** HASH: key → failures since it last succeeded. */
  readonly fail: string;
}

/** The names of a shard's queue. */
export function queueNames(keyPrefix: string, shard: string): QueueNames {
  const prefix = `${keyPrefix}:queue`;
  const queue = `{${shard}}`;
  return { prefix, queue, due: `${prefix}:${queue}:wq:due`, fail: `${prefix}:${queue}:wq:fail` };
}

/**
 * The key that tells a Redis that was emptied from one that was only away: one for all queues, or in a Cluster one beside each
 * queue, because each node may lose its own.
 */
export function generationKey(keyPrefix: string, shard?: string): string {
  return shard === undefined ? `${keyPrefix}:generation` : `${keyPrefix}:queue:{${shard}}:wq:generation`;
}
