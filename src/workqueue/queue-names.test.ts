import { expect, it } from 'vitest';
import { queueNames } from './queue-names.ts';

it('puts everything of a queue under the prefix and into the hash slot of its shard', () => {
  const names = queueNames('atoll', 'eu-1');
  const bullKey = `${names.prefix}:${names.queue}:wait`;
  for (const key of [bullKey, names.due, names.fail]) {
    expect(key).toMatch(/^atoll:queue:\{eu-1\}:/);
    expect(/\{([^}]*)\}/.exec(key)?.[1]).toBe('eu-1');
  }
});

it('keeps shards apart, whatever they are called', () => {
  const keys = ['hub', 'm', 'm-1', 'shards'].flatMap((shard) => [
    queueNames('atoll', shard).due,
    queueNames('atoll', shard).fail,
  ]);
  expect(new Set(keys).size).toBe(keys.length);
});

it('lets no queue name have a colon, which BullMQ refuses', () => {
  expect(queueNames('atoll', 'eu-1').queue).not.toContain(':');
});
