/**
 * Bounds how many keys run at the same time in all queues of a replica. A queue's first run is never held back, so that
 * a queue whose runs hang delays no other: what is bounded is what queues run beyond their first. Who has to wait comes
 * in its turn.
 */
export class Ceiling {
  readonly #limit: number;
  /** Queue → its runs. */
  readonly #running = new Map<string, number>();
  readonly #waiting = new Set<{ readonly queue: string; readonly enter: () => void }>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when a run of this queue may begin, with what is to be called when it has ended. @throws the signal's reason */
  async enter(queue: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!this.#mayEnter(queue)) await this.#turn(queue, signal);
    else this.#count(queue, 1);
    return () => this.#leave(queue);
  }

  #mayEnter(queue: string): boolean {
    return this.#total < this.#limit || !this.#running.has(queue);
  }

  #turn(queue: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const enter = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const waiter = { queue, enter };
    const leave = (): void => {
      this.#waiting.delete(waiter);
      reject(signal.reason as Error);
    };
    this.#waiting.add(waiter);
    signal.addEventListener('abort', leave, { once: true });
    return promise;
  }

  #leave(queue: string): void {
    this.#count(queue, -1);
    for (const waiter of this.#waiting) {
      if (!this.#mayEnter(waiter.queue)) continue;
      this.#waiting.delete(waiter);
      this.#count(waiter.queue, 1);
      waiter.enter();
    }
  }

  #count(queue: string, change: number): void {
    this.#total += change;
    const running = (this.#running.get(queue) ?? 0) + change;
    if (running === 0) this.#running.delete(queue);
    else this.#running.set(queue, running);
  }
}
