import { systemClock } from '../../src/kernel/index.ts';
import type { Cancel, Clock } from '../../src/kernel/index.ts';

/** The machine's clocks, and the timers set by them that have neither gone off nor been cancelled: where they were set. */
export class CountingClock implements Clock {
  readonly timers = new Set<Error>();

  now(): number {
    return systemClock.now();
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  after(milliseconds: number, callback: () => void): Cancel {
    const timer = this.#note(milliseconds);
    const cancel = systemClock.after(milliseconds, () => {
      this.timers.delete(timer);
      callback();
    });
    return () => {
      this.timers.delete(timer);
      cancel();
    };
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const timer = this.#note(milliseconds);
    await systemClock.sleep(milliseconds, signal);
    this.timers.delete(timer);
  }

  #note(milliseconds: number): Error {
    const timer = new Error(`a timer of ${milliseconds} ms`);
    this.timers.add(timer);
    return timer;
  }
}
