/**
 * Connections to Redis, one kind a use, because one set of options cannot serve all of them.
 *
 * | kind       | while Redis is down                    | why                                                              |
 * | ---------- | -------------------------------------- | ---------------------------------------------------------------- |
 * | `lease`    | rejects at once; hung: after 1.5 s     | a renewal that is sent late could extend somebody else's lease   |
 * | `producer` | rejects at once; hung: after 2 s       | the caller keeps what it wanted to write, and writes it on ready |
 * | `blocking` | waits for as long as it takes          | a worker's blocking read must neither time out nor give up       |
 *
 * Guarantees: constructing connects to nothing, and nothing here throws because Redis is down, starting, full or wrong;
 * every kind reconnects by itself within a second of Redis' return. A Redis that could lose keys by itself
 * (a `maxmemory-policy` other than `noeviction`), is a read-only replica, is older than 6.2, or is to be
 * used without a password, is refused: no connection becomes ready, and `lastError()` says why.
 *
 * Redis is one server, a master that Sentinels name, or a Cluster. All keys of one script share a hash tag.
 *
 * Redis holds hints only. Whoever uses it can rebuild what was in it.
 *
 * @module
 */
export { RedisConnections } from './redis-connections.ts';
export type { Redis } from './redis-connections.ts';
export type { RedisOptions } from './redis-options.ts';
export { Script } from './script.ts';
