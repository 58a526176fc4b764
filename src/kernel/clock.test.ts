import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';

test.each([2 ** 31, 1e15, Number.POSITIVE_INFINITY])(
  'a wait of %d ms is a long one, and none that is over at once',
  async (milliseconds) => {
    const over: string[] = [];
    const stop = new AbortController();
    const cancel = systemClock.after(milliseconds, () => over.push('after'));
    const sleeping = systemClock.sleep(milliseconds, stop.signal).then(() => over.push('sleep'));
    await sleep(50);
    expect(over).toEqual([]);
    cancel();
    stop.abort();
    await sleeping;
  },
);
