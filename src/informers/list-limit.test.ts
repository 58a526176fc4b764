import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../kernel/index.ts';
import { ListLimit } from './list-limit.ts';
import type { ListPlace } from './list-limit.ts';

let stop: AbortController;
let entered: string[];

beforeEach(() => {
  vi.useFakeTimers();
  stop = new AbortController();
  entered = [];
});

afterEach(() => {
  vi.useRealTimers();
});

/** Enters for a cluster, and notes it when it is let in. */
async function enter(limit: ListLimit, cluster: string, signal = stop.signal): Promise<ListPlace> {
  const place = await limit.enter(cluster, signal);
  entered.push(cluster);
  return place;
}

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

test('four lists run at once, by default', async () => {
  const limit = new ListLimit({ clock: systemClock });
  const places = ['a', 'b', 'c', 'd', 'e'].map((cluster) => enter(limit, cluster));
  await settle();
  expect(entered).toEqual(['a', 'b', 'c', 'd']);
  (await places[1])?.release();
  await settle();
  expect(entered).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('a place that is released twice is one place', async () => {
  const limit = new ListLimit({ clock: systemClock, limit: 1 });
  const place = await enter(limit, 'a');
  void enter(limit, 'b');
  void enter(limit, 'c');
  place.release();
  place.release();
  await settle();
  expect(entered).toEqual(['a', 'b']);
});

test('the next is of the cluster that has the fewest, then who waits longest', async () => {
  const limit = new ListLimit({ clock: systemClock, limit: 2 });
  const first = await enter(limit, 'large');
  const second = await enter(limit, 'large');
  for (const cluster of ['large', 'small', 'other']) void enter(limit, cluster);
  first.release();
  await settle();
  expect(entered.slice(2)).toEqual(['small']);
  second.release();
  await settle();
  expect(entered.slice(2)).toEqual(['small', 'large']);
});

describe('a list that hangs', () => {
  test('gives its place away after 5 s without progress', async () => {
    const limit = new ListLimit({ clock: systemClock, limit: 1 });
    const hanging = await enter(limit, 'a');
    void enter(limit, 'b');
    await vi.advanceTimersByTimeAsync(4000);
    hanging.progress();
    await vi.advanceTimersByTimeAsync(4999);
    expect(entered).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(1);
    expect(entered).toEqual(['a', 'b']);
    // That it ends at last frees no place once more.
    hanging.release();
    void enter(limit, 'c');
    await settle();
    expect(entered).toEqual(['a', 'b']);
  });

  test('or trickles gives its place away after 60 s', async () => {
    const limit = new ListLimit({ clock: systemClock, limit: 1 });
    const trickling = await enter(limit, 'a');
    void enter(limit, 'b');
    for (let second = 0; second < 59; second += 1) {
      await vi.advanceTimersByTimeAsync(1000);
      trickling.progress();
    }
    expect(entered).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(1000);
    expect(entered).toEqual(['a', 'b']);
  });
});

test('who gives up waiting takes no place', async () => {
  const limit = new ListLimit({ clock: systemClock, limit: 1 });
  const place = await enter(limit, 'a');
  const givingUp = new AbortController();
  void enter(limit, 'impatient', givingUp.signal).then((none) => none.release());
  void enter(limit, 'b');
  givingUp.abort();
  place.release();
  await settle();
  expect(entered).toEqual(['a', 'impatient', 'b']);
  void enter(limit, 'c');
  await settle();
  expect(entered).toHaveLength(3);
});

test('no timer is left when all lists have ended', async () => {
  const limit = new ListLimit({ clock: systemClock });
  (await enter(limit, 'a')).release();
  expect(vi.getTimerCount()).toBe(0);
});
