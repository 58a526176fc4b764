import { describe, expect, it } from 'vitest';
import { done, systemClock } from '../../src/kernel/index.ts';
import { eventually } from '../support/eventually.ts';
import { gate, keyOf } from '../support/queue-replica.ts';
import { useQueues } from '../support/use-queues.ts';

const { server, inspection, replica } = useQueues();

describe('when Redis', () => {
  it('is not there at first, what is added runs when it comes', async () => {
    await server().kill();
    const owner = replica();
    owner.start();
    owner.queue.add(keyOf('a'));
    owner.queue.addAfter(keyOf('b'), 10);
    await systemClock.sleep(500);
    expect(owner.redis.healthy()).toBe(false);
    await server().start();
    await Promise.all([owner.ran('a', 1), owner.ran('b', 1)]);
  });

  it('is killed and comes back empty, every replica learns it, and no key is lost', async () => {
    const [owner, other] = [replica(), replica()];
    const names = Array.from({ length: 200 }, (_, index) => `k${index}`);
    const told: string[] = [];
    for (const [name, one] of Object.entries({ owner, other })) {
      one.workqueues.onDataLoss(() => {
        told.push(name);
        for (const key of names) one.queue.add(keyOf(key), { priority: 'resync' });
      });
      for (const key of names) one.queue.add(keyOf(key));
    }
    await eventually(async () => (await owner.queue.depth()) === names.length);
    await server().kill();
    owner.queue.add(keyOf('while-down'));
    owner.start();
    await server().start();
    await Promise.all(['while-down', ...names].map((name) => owner.ran(name, 1)));
    await eventually(() => told.includes('owner') && told.includes('other'));
    expect(told.toSorted()).toEqual(['other', 'owner']);
  });

  it('is emptied while the connection stands, that is noticed', async () => {
    const owner = replica();
    let told = 0;
    owner.workqueues.onDataLoss(() => (told += 1));
    owner.start();
    await owner.settled();
    await inspection().flushall();
    await eventually(() => told === 1);
    await owner.settled();
  });

  it('is emptied while a key runs, the key is not run a second time before that run has ended', async () => {
    const owner = replica();
    const { opened, open } = gate();
    owner.on('a', async (run) => {
      if (run === 1) await opened;
      return done;
    });
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 1);
    await inspection().flushall();
    owner.queue.add(keyOf('a'));
    await owner.settled();
    expect(owner.runs('a')).toBe(1);
    open();
    await owner.ran('a', 2);
    expect(owner.mostConcurrent).toBe(1);
  });

  it('is down, stopping and closing end by their deadlines', async () => {
    const [owner, idle] = [replica(), replica()];
    const { opened, open } = gate();
    owner.on('a', async () => opened.then(() => done));
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 1);
    idle.start();
    await eventually(() => idle.redis.healthy());
    await server().kill();
    await eventually(() => !idle.redis.healthy() && !owner.redis.healthy());
    const startedAt = systemClock.monotonic();
    await Promise.all([owner.queue.stop(1000), idle.queue.stop(60_000)]);
    await Promise.all([owner.close(), idle.close()]);
    expect(systemClock.monotonic() - startedAt).toBeLessThan(20_000);
    open();
    await server().start();
  });

  it('hangs, runs go on when it answers again, and their keys run to the end', async () => {
    const owner = replica();
    owner.on('a', async () => systemClock.sleep(50).then(() => done));
    owner.start();
    await owner.settled();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 1);
    server().freeze();
    await systemClock.sleep(3000);
    owner.queue.add(keyOf('b'));
    server().thaw();
    await owner.ran('b', 1);
    await owner.settled();
  });
});
