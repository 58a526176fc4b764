import { expect, it, vi } from 'vitest';
import { Probe } from './probe.ts';

it('shows how long its key took, adds it again later, and goes on counting when one never ran', () => {
  let now = 0;
  const timers: (() => void)[] = [];
  const clock = {
    now: () => now,
    monotonic: () => now,
    after: (_: number, callback: () => void) => {
      timers.push(callback);
      return () => void timers.splice(timers.indexOf(callback), 1);
    },
    sleep: () => Promise.resolve(),
  };
  const [add, show] = [vi.fn(), vi.fn()];
  const probe = new Probe({ add, show, clock });
  expect(add).toHaveBeenCalledTimes(1);
  now = 2000;
  probe.ran();
  expect(show).toHaveBeenLastCalledWith(2);
  probe.look();
  expect(show).toHaveBeenCalledTimes(1);
  probe.repeat();
  expect(add).toHaveBeenCalledTimes(1);
  now = 30_000;
  timers.shift()?.();
  expect(add).toHaveBeenCalledTimes(2);
  now = 60_000;
  timers.shift()?.();
  probe.look();
  expect(show).toHaveBeenLastCalledWith(30);
  expect(add).toHaveBeenCalledTimes(3);
  probe.repeat();
  expect(add).toHaveBeenCalledTimes(4);
  probe.stop();
  expect(timers).toEqual([]);
});
