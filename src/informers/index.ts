/**
 * A cluster's objects in memory, kept current by list and watch with client-go's rules. Knows nothing about federation.
 *
 * **Guarantees.** One informer per kind, scope and form, whoever asks; it stops and its memory is freed when the last who
 * asked has released it. The store changes before handlers are told; each handler is told in order, one notification at a
 * time, synchronously as long as it returns no promise. An object that was deleted and created again unseen is told as a
 * deletion and an addition (its UID tells). A relist tells only what changed. A handler that comes late is told
 * everything at once. Objects are frozen and shared, never copied; what of them is kept is up to the `transform`.
 *
 * **On failure** nothing is forgotten: the store keeps the last state while the server is away, and `lastError` and
 * `staleness` say so. A broken connection, a 429 or an error of the server goes on from the last version; an expired
 * version, a malformed or oversized event or any other failure lists again, each after a backoff. A server whose storage
 * was restored from a backup, and so is behind what was read from it, is noticed when a watch ends, breaks or is silent, and
 * listed again; not noticed is one that was written to past that version before the informer asked. A kind that is not
 * served is looked for again the same way. When the server answers any call again after one that it did not answer, all
 * that wait try at once, every 5 s at most: what a probe finds alive is not worked on with an old state for long. What a
 * handler throws or rejects with, or an index function throws, is logged and counted and concerns nobody else.
 *
 * **Bounds.** What waits for a slow handler is drawn together by object beyond 1,000 notifications. The objects of a cluster
 * take 1 GiB at most: what would take more is refused like a failed list. Four full lists run at once in a process, shared
 * fairly between clusters; a list on which nothing comes for 5 s, or that takes more than 60 s, no longer counts. A list of
 * which 100 pages in a row bear nothing new is given up; a server that ends watches at once is asked for one a second. Long
 * work is cut into stretches of 8 ms.
 *
 * **Numbers.** client-go's: backoff 0.8 s → 30 s, doubled, with up to as much again at random, back to the start after two
 * quiet minutes; watches end after a random 5–10 minutes; pages of 500; resync 10 h ± 10 %. Ours: a watch that is silent
 * for 90 s is cut (servers send a bookmark every 60 s); errors of the server are taken for passing for 30 s.
 *
 * @module
 */
export * from './index-functions.ts';
export * from './informer-errors.ts';
export { ListLimit } from './list-limit.ts';
export { compareResourceVersions } from './resource-version.ts';
export * from './shared-informer-factory.ts';
export * from './shared-informer.ts';
