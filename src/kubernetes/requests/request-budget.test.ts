import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../kernel/index.ts';
import { RequestBudget } from './request-budget.ts';
import type { Lane, Place, RequestLimits } from './request-budget.ts';

const never = new AbortController().signal;
const unlimited = { perSecond: 10_000, burst: 10_000 };

let limits: RequestLimits;
let budget: RequestBudget;
let admitted: Lane[];
let places: Place[];

beforeEach(() => {
  vi.useFakeTimers();
  start({ inFlight: 32, ...unlimited });
});

afterEach(() => {
  vi.useRealTimers();
});

function start(given: RequestLimits): void {
  limits = given;
  budget = new RequestBudget(systemClock, () => limits);
  admitted = [];
  places = [];
}

/** Asks for so many places, and notes which are given. */
function ask(lane: Lane, count = 1): void {
  for (let index = 0; index < count; index += 1) {
    void budget.enter(lane, never).then((place) => {
      admitted.push(lane);
      places.push(place);
    });
  }
}

async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
}

const count = (lane: Lane): number => admitted.filter((other) => other === lane).length;

describe('places', () => {
  test.each([
    ['lists take a quarter', 'list', 8],
    ['watches that are opened take a quarter', 'watch', 8],
    ['reads take three quarters', 'read', 24],
    ['writes leave room for leases', 'write', 30],
    ['leases may take all', 'lease', 32],
  ] as const)('%s', async (_, lane, most) => {
    ask(lane, 100);
    await pass(0);
    expect(count(lane)).toBe(most);
  });

  test('of however many lists and reads, some are left for writes and leases', async () => {
    ask('list', 1000);
    ask('read', 1000);
    await pass(0);
    ask('write', 100);
    ask('lease', 100);
    await pass(0);
    expect(admitted.filter((lane) => lane === 'list' || lane === 'read')).toHaveLength(24);
    expect([count('write'), count('lease')]).toEqual([6, 2]);
  });

  test('of however many lists and watches, some are left for reads', async () => {
    ask('list', 1000);
    ask('watch', 1000);
    await pass(0);
    ask('read', 100);
    await pass(0);
    expect([count('list'), count('watch'), count('read')]).toEqual([8, 8, 8]);
  });

  test('that become free go to whom has waited longest in the lane', async () => {
    start({ inFlight: 4, ...unlimited });
    ask('write', 3);
    await pass(0);
    const order: number[] = [];
    for (const index of [1, 2, 3]) void budget.enter('write', never).then(() => order.push(index));
    places[0]?.leave();
    places[1]?.leave();
    await pass(0);
    expect(order).toEqual([1, 2]);
  });

  test('given back twice are given back once', async () => {
    start({ inFlight: 4, ...unlimited });
    ask('write', 10);
    await pass(0);
    expect(count('write')).toBe(3);
    places[0]?.leave();
    places[0]?.leave();
    await pass(0);
    expect(count('write')).toBe(4);
  });

  test('are not lost by whom stops waiting', async () => {
    start({ inFlight: 4, ...unlimited });
    ask('write', 3);
    await pass(0);
    const stop = new AbortController();
    const impatient = budget.enter('write', stop.signal);
    ask('write');
    stop.abort(new Error('enough'));
    await expect(impatient).rejects.toThrow('enough');
    places[0]?.leave();
    await pass(0);
    expect(count('write')).toBe(4);
  });

  test('follow limits that change', async () => {
    ask('write', 100);
    await pass(0);
    limits = { inFlight: 4, ...unlimited };
    for (const place of places.slice(0, 27)) place.leave();
    await pass(0);
    expect(count('write')).toBe(30);
    places[27]?.leave();
    await pass(0);
    expect(count('write')).toBe(31);
  });
});

describe('the rate', () => {
  test('is a burst, then so many a second', async () => {
    start({ inFlight: 256, perSecond: 10, burst: 5 });
    ask('write', 100);
    await pass(0);
    expect(count('write')).toBe(5);
    await pass(1000);
    expect(count('write')).toBe(15);
  });

  test('is saved up while nothing is asked, up to the burst', async () => {
    start({ inFlight: 256, perSecond: 10, burst: 5 });
    ask('write', 5);
    await pass(60_000);
    ask('write', 100);
    await pass(0);
    expect(count('write')).toBe(10);
  });

  test('is shared by weight: neither lists nor writes wait for all of the others', async () => {
    start({ inFlight: 256, perSecond: 10, burst: 1 });
    ask('list', 1000);
    ask('read', 1000);
    ask('write', 1000);
    await pass(14_000);
    expect(count('write')).toBeGreaterThanOrEqual(78);
    expect(count('read')).toBeGreaterThanOrEqual(38);
    expect(count('list')).toBeGreaterThanOrEqual(18);
  });

  test('that a lane did not use is not owed to it later', async () => {
    start({ inFlight: 256, perSecond: 10, burst: 1 });
    ask('write', 1000);
    await pass(20_000);
    ask('list', 1000);
    await pass(5000);
    expect(count('list')).toBeLessThanOrEqual(12);
  });

  test('does not hold leases', async () => {
    start({ inFlight: 256, perSecond: 1, burst: 1 });
    ask('write', 100);
    await pass(0);
    ask('lease', 10);
    await pass(0);
    expect(count('lease')).toBe(10);
  });
});

describe('a pause', () => {
  test('holds all lanes but leases, and is tried by one call before the others follow', async () => {
    budget.pause('list', 5000);
    expect(budget.pausedFor('write')).toBe(5000);
    ask('write', 5);
    ask('read', 5);
    ask('lease');
    await pass(4999);
    expect(admitted).toEqual(['lease']);
    await pass(1);
    expect(admitted).toHaveLength(2);
    places[1]?.answered();
    await pass(0);
    expect(admitted).toHaveLength(11);
  });

  test('that the server repeats holds for all who wait, however often', async () => {
    budget.pause('write', 1000);
    ask('write', 5);
    await pass(1000);
    budget.pause('write', 2000);
    places[0]?.leave();
    await pass(1999);
    expect(admitted).toHaveLength(1);
    await pass(1);
    expect(admitted).toHaveLength(2);
  });

  test('of leases holds leases only', async () => {
    budget.pause('lease', 1000);
    ask('lease');
    ask('write');
    await pass(0);
    expect(admitted).toEqual(['write']);
    await pass(1000);
    expect(admitted).toEqual(['write', 'lease']);
  });

  test('whose first call fails without an answer is over', async () => {
    budget.pause('write', 1000);
    ask('write', 3);
    await pass(1000);
    places[0]?.leave();
    await pass(0);
    expect(admitted).toHaveLength(3);
  });
});
