import { describe, expect, test, vi } from 'vitest';
import { endMark, event, ScriptedServer, synced } from '../../test/support/scripted-server.ts';
import { useReflectorStage } from '../../test/support/scripted-reflector.ts';
import type { Answer } from '../../test/support/scripted-server.ts';
import { systemClock } from '../kernel/index.ts';
import type { WatchEvent } from '../kubernetes/index.ts';
import { ApiError, TooManyRequestsError, UnexpectedAnswerError, UnreachableError } from '../kubernetes/index.ts';
import { MemoryLimitError, ServerBehindError } from './informer-errors.ts';
import { ListLimit } from './list-limit.ts';
import { MemoryBudget } from './memory-budget.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorOptions } from './reflector.ts';
import type { ReflectorSource } from './reflector-source.ts';

const unreachable = new UnreachableError('gone', 'ECONNREFUSED');
const malformed = new UnexpectedAnswerError('what is this');

const stage = useReflectorStage();

function newReflector(source: ReflectorSource, options: Partial<ReflectorOptions> = {}): Reflector {
  return new Reflector({
    cluster: 'eu-1',
    source,
    target: stage.target,
    clock: systemClock,
    random: () => 0,
    listLimit: new ListLimit({ clock: systemClock }),
    budget: new MemoryBudget(1_000_000),
    ...options,
  });
}

/** Runs a reflector against a script for some (fake) time; the backoff is without jitter. */
async function reflect(script: readonly Answer[], milliseconds: number): Promise<ScriptedServer> {
  const server = new ScriptedServer(script);
  const reflector = newReflector(server);
  void reflector.run(stage.stop.signal);
  await vi.advanceTimersByTimeAsync(milliseconds);
  return server;
}

describe('a server whose storage was restored from a backup', () => {
  const behind = { events: [endMark('10')], end: unreachable } as const;

  test.each([
    ['breaks', { events: [endMark('10')], end: unreachable } as const, 800],
    ['is ended by the server', { events: [endMark('10'), event('BOOKMARK', '', '11')], end: 'closed' } as const, 0],
    ['is silent', synced('10'), 90_000 + 800],
  ])('is noticed when the watch %s, and listed anew from its newest state', async (_behaviour, first, milliseconds) => {
    const server = new ScriptedServer([first, { events: [event('ADDED', 'a', '5'), endMark('7')] }]);
    server.newest = '7';
    void newReflector(server).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(milliseconds + 2400);
    expect(server.asked).toEqual(['stream ""', 'stream ""']);
    expect(stage.target.failures.at(-1)).toBeInstanceOf(ServerBehindError);
    expect(stage.target.told).toEqual(['all: ', 'all, rewound: a']);
  });

  test('is not suspected when it is at the very version, or further', async () => {
    const server = new ScriptedServer([behind]);
    server.newest = '10';
    void newReflector(server).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(800);
    expect(server.asked).toEqual(['stream ""', 'watch "10"']);
    expect(server.probes).toBe(1);
  });

  test('that asks for patience is asked for its version first of all', async () => {
    const server = new ScriptedServer([{ events: [endMark('10')], end: new TooManyRequestsError('slowly', 0) }]);
    server.newest = new TooManyRequestsError('slowly', 0);
    void newReflector(server).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(800 + 1600);
    expect(server.asked).toEqual(['stream ""']);
    expect(server.probes).toBe(2);
  });

  test('is asked again as long as it does not answer; the watch waits', async () => {
    const server = new ScriptedServer([behind]);
    server.newest = unreachable;
    void newReflector(server).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(800 + 1600);
    expect(server.asked).toEqual(['stream ""']);
    server.newest = '10';
    await vi.advanceTimersByTimeAsync(3200);
    expect(server.asked).toEqual(['stream ""', 'watch "10"']);
  });

  test('is listed anew from its newest state also when it is silent to a streamed list', async () => {
    const server = await reflect(
      [{ events: [endMark('10'), event('ADDED', 'a', '11')], end: malformed }, { events: [] }, synced('7')],
      800 + 90_000 + 1600,
    );
    expect(server.asked).toEqual(['stream ""', 'stream "11"', 'stream ""']);
  });
});

describe('an error of the server itself', () => {
  const internal = new ApiError('no leader', { status: 500, reason: 'InternalError' });

  test('is passing: for 30 s the watch only goes on from its version, then it is listed again', async () => {
    const failing = { events: [], end: internal };
    const server = await reflect(
      [{ events: [endMark('10')], end: internal }, ...Array.from({ length: 6 }, () => failing), synced('10')],
      800 + 1600 + 3200 + 6400 + 12_800,
    );
    expect(server.asked.slice(1)).toEqual(Array.from({ length: 5 }, () => 'watch "10"'));
    await vi.advanceTimersByTimeAsync(25_600 + 30_000);
    expect(server.asked.slice(6)).toEqual(['watch "10"', 'stream "10"']);
  });

  test('that comes after a sign of life is a new one', async () => {
    const server = new ScriptedServer([{ events: [endMark('10')], end: internal }]);
    const watch = server.watch.bind(server);
    vi.spyOn(server, 'watch').mockImplementation((options) => {
      if (server.asked.length === 0) return watch(options);
      server.asked.push(options.sendInitialEvents === true ? 'list' : 'failing watch');
      return failLater();
    });
    const failLater = async function* (): AsyncGenerator<WatchEvent, void> {
      yield event('BOOKMARK', '', '11');
      await systemClock.sleep(40_000);
      throw internal;
    };
    void newReflector(server).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(800 + 40_000 + 1600);
    expect(server.asked).toEqual(['stream ""', 'failing watch', 'failing watch']);
  });
});

describe('a full list', () => {
  test('waits for its turn, and ends it at the end mark', async () => {
    const listLimit = new ListLimit({ clock: systemClock, limit: 1 });
    const place = await listLimit.enter('us-1', stage.stop.signal);
    const server = new ScriptedServer([synced('10')]);
    void newReflector(server, { listLimit }).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(1000);
    expect(server.asked).toEqual([]);
    place.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(stage.target.told).toEqual(['all: ']);
    const next = listLimit.enter('us-1', stage.stop.signal);
    await vi.advanceTimersByTimeAsync(0);
    await expect(next).resolves.toBeDefined();
  });

  test('that fails ends its turn, and waits outside', async () => {
    const listLimit = new ListLimit({ clock: systemClock, limit: 1 });
    void newReflector(new ScriptedServer([unreachable]), { listLimit }).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(0);
    (await listLimit.enter('us-1', stage.stop.signal)).release();
  });

  test('of a started informer may wait for a random time', async () => {
    const server = new ScriptedServer([synced('10')]);
    void newReflector(server, { startJitter: 1000, random: () => 0.5 }).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(499);
    expect(server.asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(server.asked).toEqual(['stream ""']);
  });

  test('that never ends is given up when it would take too much memory', async () => {
    const server = new ScriptedServer([]);
    let sent = 0;
    vi.spyOn(server, 'watch').mockImplementation(async function* () {
      for (; ; sent += 1) yield event('ADDED', `object-${sent}`, '1');
    });
    void newReflector(server, { budget: new MemoryBudget(100_000) }).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(0);
    expect(stage.target.failures[0]).toBeInstanceOf(MemoryLimitError);
    expect(sent).toBeLessThan(2000);
    expect(server.asked).toEqual([]);
    expect(stage.target.told).toEqual([]);
  });
});

describe('what the target refuses', () => {
  test('is answered by another list', async () => {
    const refusal = new MemoryLimitError('too much');
    vi.spyOn(stage.target, 'change').mockImplementationOnce(() => {
      throw refusal;
    });
    const server = await reflect([{ events: [endMark('10'), event('ADDED', 'a', '11')] }, synced('12')], 800);
    expect(server.asked).toEqual(['stream ""', 'stream "10"']);
    expect(stage.target.failures).toEqual([refusal]);
  });
});
