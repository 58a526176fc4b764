import { expect, test } from 'vitest';
import { InFlightLimit } from './in-flight-limit.ts';

const { signal } = new AbortController();

test('more than the limit wait, in the order in which they came', async () => {
  const limit = new InFlightLimit(2);
  const [first, second] = await Promise.all([limit.acquire(signal), limit.acquire(signal)]);
  const entered: string[] = [];
  const third = limit.acquire(signal).then((release) => (entered.push('third'), release));
  const fourth = limit.acquire(signal).then((release) => (entered.push('fourth'), release));
  await Promise.resolve();
  expect(entered).toEqual([]);

  second();
  await third;
  expect(entered).toEqual(['third']);

  first();
  await fourth;
  expect(entered).toEqual(['third', 'fourth']);
});

test('who gives up waiting takes no place', async () => {
  const limit = new InFlightLimit(1);
  const release = await limit.acquire(signal);
  const impatient = new AbortController();
  const waiting = limit.acquire(impatient.signal);
  impatient.abort(new Error('no more patience'));
  await expect(waiting).rejects.toThrow('no more patience');

  release();
  const again = await limit.acquire(signal);
  expect(again).toBeTypeOf('function');
});

test('who has given up before does not enter', async () => {
  await expect(new InFlightLimit(1).acquire(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
});
