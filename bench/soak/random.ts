import type { Random } from '../../src/kernel/index.ts';

/** Numbers in [0, 1) that are the same for the same seed (mulberry32: 32 bits of state, good enough for choosing). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of them. */
export function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

/** All of them, in another order (Fisher and Yates). */
export function shuffled<T>(random: Random, values: readonly T[]): T[] {
  const rest = [...values];
  const order: T[] = [];
  while (rest.length > 0) order.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return order;
}
