/**
 * Atoll installed on a lab the way a user installs it: `deploy/` on the hub, `atoll join` for the members, replicas as
 * processes of the built program under the service account's own token; and ways to wait for what they do, by what a
 * user sees. The demo, the end-to-end tests and the benchmarks share it.
 *
 * @module
 */
export { Fleet } from './fleet.ts';
export type { FleetOptions, Kind } from './fleet.ts';
export type { LogLine, Replica, ReplicaOptions } from './replica.ts';
export { gains, held } from './shard-log.ts';
export type { ShardGain } from './shard-log.ts';
export { PATH, SOURCE } from './tenant.ts';
export { applied, emptied, membersReady, readyIn, removedFrom, startReady } from './waiting.ts';
export { writesSince } from './writes.ts';
