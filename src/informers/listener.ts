import { WorkStretch, objectKey } from '../kernel/index.ts';
import type { Clock, KubernetesObject, Logger } from '../kernel/index.ts';
import { END_OF_INITIAL_LIST, NotificationQueue } from './notification-queue.ts';
import type { Notification } from './notification-queue.ts';
import type { EventHandler, HandlerRegistration } from './shared-informer.ts';

/** How many notifications wait for a handler before those of one object are drawn together. */
const CAPACITY = 1000;

/** What happens at a listener that is counted. */
export interface ListenerEvents {
  onRemove(): void;
  /** The handler threw or rejected. */
  onFailure(): void;
  /** A notification was drawn together with one that waits. */
  onCoalesce(): void;
}

/** Options of {@link Listener}. */
export interface ListenerOptions {
  readonly handler: EventHandler;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: ListenerEvents;
}

type Told = Notification | typeof END_OF_INITIAL_LIST;

/**
 * One registration of a handler: tells it one notification at a time, in order, and at once while nothing waits. What is
 * much is told in slices, so that the process does what else there is. What the handler throws or rejects with is logged
 * and counted, and the next notification is told.
 */
export class Listener implements HandlerRegistration {
  readonly synced: Promise<void>;
  readonly #options: ListenerOptions;
  readonly #waiting = new NotificationQueue(CAPACITY);
  readonly #onSynced: () => void;
  #isBusy = false;
  #isRemoved = false;
  #hasSynced = false;
  /** A handler that cannot cope with one object may be told of thousands such: only the first of a row is an error line. */
  #isFailing = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.synced = promise;
    this.#onSynced = resolve;
  }

  /** How many notifications wait. */
  get backlog(): number {
    return this.#waiting.size;
  }

  hasSynced(): boolean {
    return this.#hasSynced;
  }

  remove(): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    this.#waiting.clear();
    this.#options.events.onRemove();
  }

  /** Tells the handler, now or in its turn. */
  notify(notification: Notification): void {
    if (this.#isRemoved) return;
    if (!this.#isBusy) this.#work(notification);
    else if (this.#waiting.add(notification)) this.#options.events.onCoalesce();
  }

  /** Tells a handler that comes late what there is. */
  begin(objects: readonly KubernetesObject[]): void {
    this.#waiting.addInitialList(objects);
    this.#goOn();
  }

  /** Tells the objects again. */
  resync(objects: readonly KubernetesObject[]): void {
    if (this.#isRemoved) return;
    this.#waiting.addResync(objects);
    if (!this.#isBusy) this.#goOn();
  }

  /** What the handler is told before this was there before it. */
  endInitialList(): void {
    if (this.#isRemoved || this.#hasSynced) return;
    if (this.#isBusy) this.#waiting.addEndOfInitialList();
    else this.#work(END_OF_INITIAL_LIST);
  }

  /** Tells this and what waits, until the handler asks to be waited for, or others have waited long enough. */
  #work(first: Told): void {
    this.#isBusy = true;
    const stretch = new WorkStretch(this.#options.clock);
    for (let next: Told | undefined = first; next !== undefined; next = this.#waiting.shift()) {
      const pause = this.#tell(next) ?? (stretch.isOver() ? stretch.rest() : undefined);
      if (pause === undefined) continue;
      void pause.then(() => this.#goOn());
      return;
    }
    this.#isBusy = false;
  }

  #goOn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isBusy = false;
    else this.#work(next);
  }

  /** Answers a promise when the handler asks to be waited for; it never rejects. */
  #tell(told: Told): Promise<void> | undefined {
    if (this.#isRemoved) return undefined;
    if (told === END_OF_INITIAL_LIST) {
      this.#hasSynced = true;
      this.#onSynced();
      return undefined;
    }
    const [first, second] = callsOf(this.#options.handler, told);
    const settled = this.#call(first, told);
    if (second === undefined) return settled;
    const goOn = (): Promise<void> | undefined => (this.#isRemoved ? undefined : this.#call(second, told));
    return settled === undefined ? goOn() : settled.then(goOn);
  }

  #call(call: () => unknown, told: Notification): Promise<void> | undefined {
    try {
      const answer = call();
      if (!(answer instanceof Promise)) {
        this.#isFailing = false;
        return undefined;
      }
      return answer.then(
        () => void (this.#isFailing = false),
        (error: unknown) => this.#failed(error, told),
      );
    } catch (error) {
      this.#failed(error, told);
      return undefined;
    }
  }

  #failed(error: unknown, { previous, current = previous }: Notification): void {
    const { logger, events } = this.#options;
    events.onFailure();
    const log = this.#isFailing ? 'debug' : 'error';
    this.#isFailing = true;
    logger[log]('event handler failed', { key: current && objectKey(current), error });
  }
}

/** An object of the same name but another UID is another object: the old one was deleted while nobody looked. */
function callsOf(
  handler: EventHandler,
  { previous, current, isInInitialList = false, isFinalStateUnknown = false }: Notification,
): [() => unknown, (() => unknown)?] {
  if (previous === undefined) return [() => current && handler.onAdd?.(current, isInInitialList)];
  if (current === undefined) return [() => handler.onDelete?.(previous, isFinalStateUnknown)];
  if (previous.metadata.uid === current.metadata.uid) return [() => handler.onUpdate?.(previous, current)];
  return [() => handler.onDelete?.(previous, true), () => handler.onAdd?.(current, false)];
}
