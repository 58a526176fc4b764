/**
 * One replica of Atoll, put together: which informers run, what a shard runs when it is gained, in which order all of
 * it starts and ends. Everything that decides anything lives in the rooms below; here are only the wires.
 *
 * ```
 *   start: hub informers ─▶ installation id ─▶ synced ─▶ leases ─▶ (shard gained: queue, every key) ─▶ …
 *   stop:  queues (1 s) ─▶ members ─▶ leases released ─▶ informers, git, Redis, connections      (8 s in all)
 * ```
 *
 * @module
 */
export { Atoll } from './atoll.ts';
export type { AtollOptions } from './atoll.ts';
export { installationRules } from './installation.ts';
