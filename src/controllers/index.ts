/**
 * From events to keys: which changes of which objects bring which key into a queue, and when a reconciler may run.
 * controller-runtime's builder, predicates, handlers and controllerutil; knows nothing about federation.
 *
 * **Guarantees.**
 * - One declaration says what a controller watches (`for`, `owns`, `watches`); its reconciler reads through the caches of
 *   just these kinds. What is watched twice, by whomever, is one informer.
 * - No reconcile before every source has synced and this controller has seen the objects of the initial list. Keys
 *   that come before, by an event or from the queue, are *held* in memory and put into the queue when the gate opens:
 *   they wait without a failure, an attempt or a timer. (Asking again after a time would be a round trip through the
 *   queue per key and time; waiting inside the run would block the places of kinds that have synced.) A replica that
 *   dies meanwhile loses nothing: whoever attaches anew sees every object again.
 * - What was there before, and resyncs, are added with priority `resync`, everything else as `event`. A key that one event
 *   leads to more than once is added once.
 * - Reads come from memory, writes go to the API server, and a reader sees the writes that it told its `MutationCache`.
 *
 * **On failure.** What a predicate or a map function throws is logged, counted
 * (`controller_event_failures_total`), and concerns this event only: a predicate that throws lets it pass, a map
 * function that throws leads to no key. What a reconciler throws is the queue's to judge; there a
 * `controller_runtime_reconcile_panics_total` counts what is a mistake in the code and no state of the world.
 *
 * **Numbers.** A written object is shown for at most a minute, and 10,000 of them per kind are kept: an informer that
 * works catches up within milliseconds, one that does not is better shown as it is.
 *
 * @module
 */
export * from './controller-builder.ts';
export * from './controller.ts';
export * from './finalizers.ts';
export * from './mutation-cache.ts';
export * from './object-event.ts';
export * from './owner-references.ts';
export * from './predicates.ts';
