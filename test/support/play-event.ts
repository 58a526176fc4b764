import type { ControllerBuilder } from '../../src/controllers/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { GroupVersionKind, Key } from '../../src/kernel/index.ts';
import type { AddOptions } from '../../src/workqueue/index.ts';
import type { Event } from './builders.ts';
import { PlayedInformers } from './played-informers.ts';

/** What plays an event, and to whom. */
export interface Play {
  readonly cluster: string;
  /** Attached in this order. */
  readonly controllers: readonly ControllerBuilder[];
  /** The kind of the object that the event is about. */
  readonly gvk: GroupVersionKind;
  readonly event: Event;
}

/**
 * Plays an event to controllers that have synced. Throws when none of them watches the kind.
 * @returns "cluster kind namespace/name priority" of every key that they enqueue, in order
 */
export function playEvent({ cluster, controllers, gvk, event }: Play): string[] {
  const informers = new PlayedInformers(true);
  const enqueued: string[] = [];
  const add = ({ cluster: shard, kind, namespace, name }: Key, { priority = 'event' }: AddOptions = {}): void =>
    void enqueued.push(`${shard} ${kind.slice(0, kind.indexOf('.'))} ${namespace}/${name} ${priority}`);
  const ports = { clock: systemClock, logger: silentLogger, metrics: noMetrics };
  for (const controller of controllers) controller.attach({ cluster, informers, queue: { add }, ...ports });
  const informer = informers.all().find((watched) => watched.gvk.kind === gvk.kind);
  if (informer === undefined) throw new Error(`nobody watches ${gvk.kind}`);
  informer.play(event);
  return enqueued;
}
