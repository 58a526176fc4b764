/**
 * Events of Kubernetes (core/v1) about objects, as `kubectl describe` shows them. Knows nothing about federation.
 *
 * **Guarantees.** Recording returns at once and never throws: what is to be written waits in memory and is written one by
 * one, in order, by whoever may still write then (the guard of the port is called right before each sending). Events
 * of one object that differ only in their message are one event from the tenth within ten minutes on; the same event again
 * is a higher `count` of the first; a source may write 25 events of one type about one object, and then one every 5 minutes.
 * An event that has expired on the server is created again with its count. Memory is bounded: 1,000 events that wait, 4,096
 * recent ones for each of the three decisions.
 *
 * **On failure.** A server that does not answer is tried 12 times, 10 s apart; one that refuses is not asked again. What
 * cannot be written is dropped and counted by cause: an event is a courtesy, and nothing may depend on it. When the recorder
 * is closed, each event that waits is tried once, until one fails, for 2 s at most.
 *
 * **Numbers** are client-go's (`tools/record`), so that Atoll's events look and thin out like those of other controllers.
 * Names of events are unique by time, as there. A message has at most 1 KiB, the limit of `events.k8s.io/v1`.
 *
 * @module
 */
export { EventRecorder, eventRules } from './event-recorder.ts';
export type { EventRecorderOptions } from './event-recorder.ts';
export type { EventNote, EventPort } from './event.ts';
