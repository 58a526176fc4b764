/**
 * Which replica works which shard. A shard is held by at most one replica at a time, and by one soon after another ends.
 *
 * ```
 *             claim (Redis)          raise (hub)             a better owner, a removed shard, stop
 *  unowned ──────────────▶ claimed ─────────────▶ held ──────────────────────────────▶ leaving ──▶ released
 *                             │   refused: a      │  onGained                onLost,      (Redis)
 *                             ▼   higher epoch    ▼                          awaited
 *                          claimed anew         lost: not renewed in time, Redis emptied, a higher epoch on the hub
 * ```
 *
 * Each replica keeps one lease in Redis, under which it claims shards in one script each: cost grows with the replicas, not
 * with the clusters. Who should own what is computed by every replica from what Redis answers to its renewal: owners keep
 * what they have, the surplus moves by rendezvous hashing, so that loads differ by one at most and nothing moves needlessly.
 *
 * Guarantees
 * - `holds` and `guard` are synchronous, and right at once after a frozen process thaws: they compare the monotonic clock with
 *   the moment before the last renewal was *sent*. A holder stops itself at the renew deadline (10 s), Redis lets others in after
 *   the lease (15 s); a write takes at most 4.5 s.
 * - A tenure has an epoch that is higher than every earlier one, also when Redis lost its data: the epoch is recorded on the hub by
 *   compare-and-swap before `onGained` is called. When Redis elects twice, the hub refuses one of the two; a holder that finds a
 *   higher epoch there steps down.
 * - A guard belongs to the tenure in which it was asked for. It throws for ever once that has ended, even if the shard is regained.
 * - Handing over (also in `stop`) is announced by `onLost`, which may return a promise: while that is pending, for at most the
 *   renew deadline, the guards of the tenure still pass, so that runs can end. Then the shard is released, and the next owner
 *   finds it within a second. A loss is announced when it has happened.
 * - While Redis or the hub is down nothing throws, nothing is gained, and what is held ends by its deadline. All resumes by itself.
 *
 * What remains: a write that was sent before its process froze can arrive after the next owner's. Who is written to can refuse it by
 * the epoch.
 *
 * Numbers: client-go's 15 s / 10 s / 2 s. Redis is asked every half retry period, so that a release is found in a second: clean
 * hand-over within 2 s, takeover after a kill within 15 s + 1.2 s + two round trips.
 *
 * @module
 */
export { StaleEpochError } from './epoch-store.ts';
export type { EpochStore } from './epoch-store.ts';
export { LeaseEpochStore, leaseRules } from './lease-epoch-store.ts';
export { Shards } from './shards.ts';
export type { LeaseTimes, ShardsOptions } from './shards.ts';
