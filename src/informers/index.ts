/**
 * A cluster's objects in memory, kept current by list and watch with client-go's rules. Knows nothing about federation.
 *
 * **Guarantees.** One informer per kind and scope, whoever asks. The store changes before handlers are told; handlers are
 * told in order, one change at a time, synchronously: they note a key and return. An object that was deleted and created
 * again unseen is told as a deletion and an addition (its UID tells). A relist tells only what changed. A handler that
 * comes late is told everything at once. Objects are frozen and shared; managedFields stay in them.
 *
 * **On failure** nothing is forgotten: the store keeps the last state while the server is away, and `lastError` and
 * `staleness` say so. A broken connection or a 429 goes on from the last version; an expired version, a malformed or
 * oversized event or any other failure lists again, each after a backoff. A kind that is not served is looked for again
 * the same way. When the server answers any call again after one that it did not answer, all that wait try at once, every
 * 5 s at most: what a probe finds alive is not worked on with an old state for long. What a handler or an index function throws is logged and concerns nobody else.
 *
 * **Numbers.** client-go's: backoff 0.8 s → 30 s, doubled, with up to as much again at random, back to the start after two
 * quiet minutes; watches end after a random 5–10 minutes; pages of 500; resync 10 h ± 10 %. Ours: a watch that is silent
 * for 90 s is cut (servers send a bookmark every 60 s), and after two such in a row listed again.
 *
 * @module
 */
export * from './shared-informer-factory.ts';
export * from './shared-informer.ts';
