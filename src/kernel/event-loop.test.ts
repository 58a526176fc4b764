import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { WorkStretch } from './event-loop.ts';

function clockAt(time: { now: number }): Clock {
  return { ...systemClock, monotonic: () => time.now };
}

test('a stretch is over after 8 ms, and the next one begins with a rest', async () => {
  const time = { now: 100 };
  const stretch = new WorkStretch(clockAt(time));
  time.now = 107;
  expect(stretch.isOver()).toBe(false);
  time.now = 108;
  expect(stretch.isOver()).toBe(true);
  await stretch.rest();
  expect(stretch.isOver()).toBe(false);
});

test('of many that rest at the same time each goes on in a turn of its own', async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turns = await Promise.all(
    Array.from({ length: 10 }, async () => {
      await new WorkStretch(systemClock).rest();
      return turn;
    }),
  );
  isOver = true;
  expect(new Set(turns).size).toBe(10);
});
