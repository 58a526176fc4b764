import { describe, expect, test, vi } from 'vitest';
import { endMark, event, ScriptedServer, synced } from '../../test/support/scripted-server.ts';
import { useReflectorStage } from '../../test/support/scripted-reflector.ts';
import type { Answer } from '../../test/support/scripted-server.ts';
import { systemClock } from '../kernel/index.ts';
import type { WatchEvent } from '../kubernetes/index.ts';
import { ExpiredError, TooManyRequestsError, UnexpectedAnswerError, UnreachableError } from '../kubernetes/index.ts';
import { WatchCutShortError, WatchIdleError } from './informer-errors.ts';
import { ListLimit } from './list-limit.ts';
import { MemoryBudget } from './memory-budget.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorOptions } from './reflector.ts';
import type { ReflectorSource } from './reflector-source.ts';

const expired = new ExpiredError('too old', { status: 410 });
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
async function reflect(script: readonly Answer[], milliseconds = 0, random = 0): Promise<ScriptedServer> {
  const server = new ScriptedServer(script);
  const reflector = newReflector(server, { random: () => random });
  void reflector.run(stage.stop.signal);
  await vi.advanceTimersByTimeAsync(milliseconds);
  return server;
}

describe('a watch', () => {
  const start = { events: [endMark('10')], end: 'closed' } as const;

  test('that the server ends goes on from the last event or bookmark, without a list', async () => {
    const bookmark = event('BOOKMARK', '', '15');
    const server = await reflect(
      [
        { events: [endMark('10'), event('ADDED', 'a', '11')], end: 'closed' },
        { events: [bookmark], end: 'closed' },
      ],
      1000,
    );
    expect(server.asked).toEqual(['stream ""', 'watch "11"', 'watch "15"']);
    expect(stage.target.failures).toEqual([]);
  });

  test.each([
    ['breaks', { events: [event('ADDED', 'a', '11')], end: unreachable }],
    ['is refused by a 429', { events: [event('ADDED', 'a', '11')], end: new TooManyRequestsError('slowly', 0) }],
  ])('that %s goes on from the last version after a backoff, without a list', async (_behaviour, broken) => {
    const server = await reflect([{ ...broken, events: [endMark('10'), ...broken.events] }], 799);
    expect(server.asked).toEqual(['stream ""']);
    await vi.advanceTimersByTimeAsync(1);
    expect(server.asked).toEqual(['stream ""', 'watch "11"']);
    expect(stage.target.told).toEqual(['all: ', 'ADDED a']);
  });

  test('waits as long as a 429 asks for', async () => {
    const server = await reflect([new TooManyRequestsError('slowly', 7), synced('1')], 6999);
    expect(server.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(server.asked).toHaveLength(2);
  });

  test.each([
    ['has expired', expired],
    ['sends something malformed', malformed],
  ])('that %s is answered by a new list, and the failure is told', async (_behaviour, failure) => {
    const broken = { events: [endMark('10'), event('ADDED', 'a', '11')], end: failure };
    const server = await reflect([broken, { events: [event('ADDED', 'b', '9'), endMark('12')] }], 800);
    expect(server.asked).toEqual(['stream ""', 'stream "11"']);
    expect(stage.target.told).toEqual(['all: ', 'ADDED a', 'all: b']);
    expect(stage.target.failures).toEqual([failure]);
  });

  test('that ends at once without an event is answered by a new list', async () => {
    const server = await reflect([start, { events: [], end: 'closed' }, synced('11')], 800);
    expect(server.asked).toEqual(['stream ""', 'watch "10"', 'stream "10"']);
    expect(stage.target.failures[0]).toBeInstanceOf(WatchCutShortError);
  });

  test('that is silent for 90 s is cut and begun again from its version, as often as it is', async () => {
    const server = await reflect([synced('10')], 89_999);
    expect(stage.target.failures).toEqual([]);
    await vi.advanceTimersByTimeAsync(1 + 800);
    expect(server.asked).toEqual(['stream ""', 'watch "10"']);
    expect(stage.target.failures[0]).toBeInstanceOf(WatchIdleError);
    await vi.advanceTimersByTimeAsync(90_000 + 1600);
    expect(server.asked).toEqual(['stream ""', 'watch "10"', 'watch "10"']);
    expect(server.probes).toBe(2);
  });

  test('that is silent twice in a row is listed again where versions cannot be compared', async () => {
    const server = new ScriptedServer([synced('v10')]);
    server.newest = 'v10';
    void newReflector(server).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(90_000 + 800 + 90_000 + 1600);
    expect(server.asked).toEqual(['stream ""', 'watch "v10"', 'stream "v10"']);
  });

  test('is left alone while bookmarks come', async () => {
    const server = new ScriptedServer([]);
    vi.spyOn(server, 'watch').mockImplementation(async function* (options) {
      server.asked.push('watch');
      yield endMark('1');
      for (let version = 2; !options.signal.aborted; version += 1) {
        await systemClock.sleep(60_000, options.signal);
        yield event('BOOKMARK', '', String(version));
      }
    });
    void newReflector(server).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(server.asked).toEqual(['watch']);
    expect(stage.target.failures).toEqual([]);
    expect(stage.target.signsOfLife).toBeGreaterThanOrEqual(10);
  });

  test.each([
    [0, undefined, 300],
    [0.999, undefined, 599],
    [0.5, 600_000, 900],
    [0, 1000, 300],
  ])(
    'lasts between 5 and 10 minutes, or longer on request (random %d, %s ms)',
    async (random, minWatchTime, seconds) => {
      const server = new ScriptedServer([synced('1')]);
      void newReflector(server, { random: () => random, minWatchTime }).run(stage.stop.signal);
      await vi.advanceTimersByTimeAsync(0);
      expect(server.watches[0]?.timeoutSeconds).toBe(seconds);
    },
  );

  test('tells how far it is by bookmarks', async () => {
    await reflect([{ events: [endMark('10'), event('BOOKMARK', '', '15')] }]);
    expect(stage.target.bookmarks).toEqual(['15']);
  });
});

describe('trying again', () => {
  test('takes twice as long each time, up to 30 s', async () => {
    const server = await reflect(Array.from({ length: 9 }, () => unreachable));
    const delays = [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000];
    for (const [index, delay] of delays.entries()) {
      expect(server.asked).toHaveLength(index + 1);
      await vi.advanceTimersByTimeAsync(delay - 1);
      expect(server.asked).toHaveLength(index + 1);
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(server.asked).toHaveLength(9);
  });

  test('takes up to as long again at random', async () => {
    const server = await reflect([unreachable], 1199, 0.5);
    expect(server.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(server.asked).toHaveLength(2);
  });

  test('starts over after two quiet minutes', async () => {
    const quiet = async function* (): AsyncGenerator<WatchEvent, void> {
      yield endMark('1');
      await systemClock.sleep(60_000);
      yield event('BOOKMARK', '', '2');
      await systemClock.sleep(60_001);
      throw malformed;
    };
    const server = new ScriptedServer([unreachable, unreachable, unreachable]);
    const watch = server.watch.bind(server);
    vi.spyOn(server, 'watch').mockImplementation((options) => {
      if (server.asked.length !== 3) return watch(options);
      server.asked.push('quiet watch');
      return quiet();
    });
    void newReflector(server).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(800 + 1600 + 3200 + 120_001);
    expect(server.asked).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(800);
    expect(server.asked).toHaveLength(5);
  });

  test('happens at once, and from the shortest delay on, when it is woken', async () => {
    const server = new ScriptedServer([unreachable, unreachable, unreachable, unreachable]);
    const reflector = newReflector(server);
    void reflector.run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(800 + 1600);
    expect(server.asked).toHaveLength(3);
    reflector.wake();
    await vi.advanceTimersByTimeAsync(0);
    expect(server.asked).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(800);
    expect(server.asked).toHaveLength(5);
  });

  test('happens within 5 min, whatever a server asks for', async () => {
    const server = await reflect([new TooManyRequestsError('for ever', 10 ** 9), synced('1')], 299_999);
    expect(server.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(server.asked).toHaveLength(2);
  });

  test('does not happen before the time that a 429 asked for, woken or not', async () => {
    const server = new ScriptedServer([new TooManyRequestsError('slowly', 7), synced('1')]);
    const reflector = newReflector(server);
    void reflector.run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(6000);
    reflector.wake();
    await vi.advanceTimersByTimeAsync(999);
    expect(server.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(server.asked).toHaveLength(2);
  });

  test('ends with the signal, also while waiting', async () => {
    const reflector = newReflector(new ScriptedServer([unreachable]));
    const running = reflector.run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(100);
    stage.stop.abort();
    await expect(running).resolves.toBeUndefined();
  });
});
