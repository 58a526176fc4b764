/**
 * One queue of keys per shard, with client-go's semantics, on BullMQ and across replicas.
 *
 * ```
 *  add ──────────┐
 *                ▼   flush                 ┌──────────── ready (BullMQ) ───────────┐
 *             intake ─────────────────────▶│ waits once ─▶ active ─▶ done          │
 *                ▲  │                      │      ▲          │ added meanwhile:    │
 *  addAfter ─────┘  │ flush                │      └──────────┘ runs once more      │
 *                   ▼        promoter      └───────▲───────────────────────────────┘
 *                due (ZSET) ───────────────────────┘
 *                   ▲ requeueAfter, backoff counted in fail (HASH)
 * ```
 *
 * Guarantees
 * - A key waits once, however often it is added; added while it runs, it runs exactly once more, and never at the same
 *   time as itself, whatever replica added it.
 * - `addAfter` keeps the earliest time; an immediate add is not held back by a waiting delay. BullMQ never holds a delay.
 * - Adding never throws and never waits: what Redis does not take is kept here, and written when it comes, events first.
 * - Events run before resyncs, but of nine runs one is a resync's when both wait: a backlog drains under any stream.
 * - The outcome of a run moves the key as controller-runtime does (`outcome.ts`). A run that lost its lease, its lock or
 *   its time to finish puts its key back: a key is never dropped because of who was running it.
 * - Redis is a hint store. That it was emptied, or that another server process answers (one that was promoted may lack the
 *   last second), is noticed by a generation key and the server's run id, on every connection and every 5 s, and
 *   told to `onDataLoss`, whose callbacks add every key again.
 * - `stop` and `close` end by their deadlines, also while Redis is down.
 * - What runs at once is bounded per queue and over all queues of a replica; the first run of a queue never waits for others.
 *
 * Numbers. A run holds a lock of 8 s, renewed after 2 to 4 s; `guard` trusts it for 80 % of that from before the renewal
 * was sent. Keys of a dead replica are looked for every 2 s, so they run again about 10 s after its death, within the
 * time that taking over its lease needs anyway. Backoff is controller-runtime's: 5 ms · 2^n up to 1000 s per key. The
 * promoter looks every 200 ms, so a delay that another replica wrote may be late by that much.
 *
 * @module
 */
export type { AddOptions, KeyedQueue, Priority, Reconcile, ReconcileContext, StartOptions } from './keyed-queue.ts';
export type { RetryLimit } from './token-bucket.ts';
export { Workqueues } from './workqueues.ts';
export type { WorkqueuesOptions } from './workqueues.ts';
