import { expect, it } from 'vitest';
import { systemClock } from '../kernel/index.ts';
import { TokenBucket } from './token-bucket.ts';

function bucketAt(times: readonly number[]): { readonly take: () => number } {
  const left = [...times];
  const clock = { ...systemClock, monotonic: () => left.shift() ?? times.at(-1) ?? 0 };
  return new TokenBucket(clock, { perSecond: 10, burst: 2 });
}

it('lets a burst through at once, and then one retry per interval', () => {
  const bucket = bucketAt([0, 0, 0, 0, 0]);
  expect([bucket.take(), bucket.take(), bucket.take(), bucket.take()]).toEqual([0, 0, 100, 200]);
});

it('fills up with time, never beyond its burst', () => {
  const bucket = bucketAt([0, 0, 0, 50, 10_000, 10_000, 10_000]);
  expect([bucket.take(), bucket.take()]).toEqual([0, 0]);
  expect(bucket.take()).toBeCloseTo(50);
  expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([0, 0, 100]);
});
