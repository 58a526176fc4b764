import { afterEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { QueueFuzz } from '../support/queue-fuzz.ts';

let fuzz: QueueFuzz | undefined;

afterEach(async () => fuzz?.close());

it('no add is lost and no key runs twice at a time, though workers are killed and frozen, and Redis loses everything or its last moment', async () => {
  const opened = await QueueFuzz.open(Math.random);
  fuzz = opened;
  await opened.round(3000, ['kill a worker', 'kill a worker', 'freeze a worker']);
  await opened.round(1000, ['restart Redis empty']);
  await opened.round(1000, ['restart Redis from a file', 'kill a worker']);
  const { adds, runs, failures, lost, overlaps } = await opened.counts();
  expect({ lost, overlaps }).toEqual({ lost: 0, overlaps: 0 });
  expect(adds).toBeGreaterThan(1000);
  expect(runs).toBeGreaterThan(200);
  expect(failures).toBeGreaterThan(0);
  await eventually(async () => (await opened.marks()).length === 0, {
    message: 'no key stays marked as waiting or running',
  });
});
