import { describe, expect, it } from 'vitest';
import {
  done,
  LeaseLostError,
  requeueAfter,
  systemClock,
  TerminalError,
  WaitingError,
} from '../../src/kernel/index.ts';
import { eventually } from '../support/eventually.ts';
import { gate, keyOf } from '../support/queue-replica.ts';
import { useQueues } from '../support/use-queues.ts';

/** Long enough never to come in a test. */
const LONG = 600_000;

const { inspection, partOfQueue, replica, failures, dueAt } = useQueues();

describe('a key', () => {
  it('that is added again while it waits runs once (S1)', async () => {
    const [owner, other] = [replica(), replica()];
    for (let index = 0; index < 5; index += 1) {
      owner.queue.add(keyOf('a'));
      other.queue.add(keyOf('a'));
    }
    owner.start(1);
    await other.settled(owner);
    await owner.settled();
    expect(owner.runs('a')).toBe(1);
  });

  it('that is added again while it runs, by several replicas, runs exactly once more, and not at the same time (S2)', async () => {
    const [owner, other] = [replica(), replica()];
    const { opened, open } = gate();
    owner.on('a', async (run) => {
      if (run === 1) await opened;
      return done;
    });
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 1);
    for (let index = 0; index < 3; index += 1) {
      owner.queue.add(keyOf('a'));
      other.queue.add(keyOf('a'));
    }
    await owner.settled();
    await other.settled(owner);
    expect(owner.runs('a')).toBe(1);
    open();
    await owner.ran('a', 2);
    await owner.settled();
    expect(owner.runs('a')).toBe(2);
    expect(owner.mostConcurrent).toBe(1);
  });

  it('keeps the earliest of several delays (S3)', async () => {
    const [owner, other] = [replica(), replica()];
    owner.start();
    owner.queue.addAfter(keyOf('a'), LONG);
    other.queue.addAfter(keyOf('a'), 300);
    owner.queue.addAfter(keyOf('a'), LONG);
    await owner.ran('a', 1);
    await owner.settled();
    expect(await dueAt('a')).toBeNull();
    expect(owner.runs('a')).toBe(1);
  });

  it('runs at once when it is added while a delay waits, and again when that is over (S4)', async () => {
    const owner = replica();
    owner.start();
    owner.queue.addAfter(keyOf('a'), 2000);
    await eventually(() => dueAt('a'), { interval: 5 });
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 1);
    expect(await dueAt('a')).not.toBeNull();
    await owner.ran('a', 2);
  });

  it('that is added while it runs, and then asks to come back late, runs at once (S5)', async () => {
    const owner = replica();
    const { opened, open } = gate();
    owner.on('a', async (run) => {
      if (run === 1) await opened;
      return run === 1 ? requeueAfter(LONG) : done;
    });
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 1);
    owner.queue.add(keyOf('a'));
    await owner.settled();
    open();
    await owner.ran('a', 2);
    expect(await dueAt('a')).not.toBeNull();
  });

  it('that is added while it runs, and then fails, runs at once and once more after its backoff (S7)', async () => {
    const owner = replica();
    const { opened, open } = gate();
    owner.on('a', async (run) => {
      if (run > 1) return done;
      await opened;
      throw new Error('refused');
    });
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 1);
    owner.queue.add(keyOf('a'));
    await owner.settled();
    open();
    await owner.ran('a', 3);
    await owner.settled();
    expect(owner.runs('a')).toBe(3);
    expect(owner.mostConcurrent).toBe(1);
  });

  it('that fails comes back after 5 ms · 2^n, and its failures are forgotten when it succeeds (S9)', async () => {
    const owner = replica();
    const times: number[] = [];
    owner.on('a', (run) => {
      times.push(systemClock.monotonic());
      return run <= 9 ? Promise.reject(new Error('refused')) : Promise.resolve(done);
    });
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 9);
    expect(await failures('a')).toBe('9');
    await owner.ran('a', 10);
    await eventually(async () => (await failures('a')) === null);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    // Redis counts whole milliseconds.
    for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThan(5 * 2 ** index - 2);
  });

  it('that waits as a resync is overtaken by events, also by itself as an event (S10)', async () => {
    const owner = replica();
    const { opened, open } = gate();
    owner.on('first', async () => opened.then(() => done));
    owner.start(1);
    await owner.settled();
    owner.queue.add(keyOf('first'));
    await owner.ran('first', 1);
    for (let index = 0; index < 20; index += 1) owner.queue.add(keyOf(`bulk${index}`), { priority: 'resync' });
    await eventually(async () => (await owner.queue.depth()) === 20);
    owner.queue.add(keyOf('bulk19'));
    owner.queue.add(keyOf('fresh'));
    await eventually(async () => (await inspection().llen(partOfQueue('wait'))) === 2);
    owner.queue.add(keyOf('bulk18'), { priority: 'resync' });
    open();
    await owner.ran('bulk18', 1);
    await owner.settled();
    const order = owner.started.slice(2, 23);
    expect(order.slice(0, 2).toSorted()).toEqual(['bulk19', 'fresh']);
    expect(order.slice(2)).toEqual(Array.from({ length: 19 }, (_, index) => `bulk${index}`));
  });

  it('waits while its queue is stopped, and runs once when it is started again (S11)', async () => {
    const owner = replica();
    owner.start();
    await owner.settled();
    await owner.queue.stop(1000);
    owner.queue.add(keyOf('a'));
    await eventually(async () => (await owner.queue.depth()) === 1);
    expect(owner.runs('a')).toBe(0);
    owner.start();
    await owner.settled();
    expect(owner.runs('a')).toBe(1);
  });
});

describe('a run', () => {
  it('that cannot succeed is not repeated', async () => {
    const owner = replica();
    owner.on('a', () => Promise.reject(new TerminalError('invalid')));
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 1);
    await eventually(() => owner.logger.lines.find(({ level }) => level === 'error'));
    expect(await dueAt('a')).toBeNull();
    expect(await failures('a')).toBeNull();
  });

  it('that waits is repeated with backoff, and no error is logged', async () => {
    const owner = replica();
    owner.on('a', (run) => (run < 4 ? Promise.reject(new WaitingError('not there')) : Promise.resolve(done)));
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 4);
    expect(owner.logger.lines.filter(({ message }) => message === 'reconcile waits')).toHaveLength(3);
    expect(owner.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('that fails is logged once, with its key and cause', async () => {
    const owner = replica();
    owner.on('a', (run) => (run < 2 ? Promise.reject(new Error('refused')) : Promise.resolve(done)));
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 2);
    const errors = owner.logger.lines.filter(({ level }) => level === 'error');
    expect(errors).toHaveLength(1);
    expect(errors[0]?.fields).toMatchObject({ shard: 'm1', ...keyOf('a'), failures: 1, error: new Error('refused') });
  });

  it('that asks to come back resets its backoff and does, without counting as a failure', async () => {
    const owner = replica();
    owner.on('a', (run) => {
      if (run < 3) return Promise.reject(new Error('refused'));
      return Promise.resolve(run === 3 ? requeueAfter(50) : done);
    });
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 4);
    expect(await failures('a')).toBeNull();
  });

  it('that lost its lease puts its key back, without counting as a failure', async () => {
    const owner = replica();
    let isHeld = false;
    owner.on('a', async (_, { guard }) => {
      guard();
      return Promise.resolve(done);
    });
    owner.start(4, () => {
      if (!isHeld) throw new LeaseLostError('the shard is not held');
    });
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 1);
    isHeld = true;
    await owner.ran('a', 2);
    expect(await failures('a')).toBeNull();
    await eventually(async () => (await dueAt('a')) === null);
  });

  it('ends before its queue has stopped, when it can in time', async () => {
    const owner = replica();
    let finished = false;
    owner.on('a', async (_, { guard }) => {
      await systemClock.sleep(300);
      guard();
      finished = true;
      return done;
    });
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 1);
    await owner.queue.stop(20_000);
    expect(finished).toBe(true);
    expect(await inspection().llen(partOfQueue('active'))).toBe(0);
    expect(await owner.queue.depth()).toBe(0);
  });

  it('that does not end in time is abandoned: it may not write any more, and another replica runs the key', async () => {
    const [owner, next] = [replica(), replica()];
    let refused: unknown;
    owner.on('a', async (_, { signal, guard }) => {
      await eventually(() => signal.aborted, { interval: 1 });
      try {
        guard();
      } catch (error) {
        refused = error;
      }
      return done;
    });
    owner.start();
    owner.queue.add(keyOf('a'));
    await owner.ran('a', 1);
    await owner.queue.stop(100);
    next.start();
    await next.ran('a', 1);
    expect(refused).toBeInstanceOf(LeaseLostError);
  });
});
