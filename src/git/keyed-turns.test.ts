import { expect, test } from 'vitest';

import { KeyedTurns } from './keyed-turns.ts';

test('work under one key runs one after another, even when it fails; other keys do not wait', async () => {
  const turns = new KeyedTurns();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = turns.run('a', async () => {
    log.push('first');
    await gate.promise;
    throw new Error('failed');
  });
  const second = turns.run('a', async () => log.push('second'));
  await turns.run('b', async () => log.push('other'));
  expect(log).toEqual(['first', 'other']);
  gate.resolve();
  await expect(first).rejects.toThrow('failed');
  await second;
  expect(log).toEqual(['first', 'other', 'second']);
});
