import { describe, expect, test, vi } from 'vitest';
import { endMark, event, page, ScriptedServer, synced } from '../../test/support/scripted-server.ts';
import { useReflectorStage } from '../../test/support/scripted-reflector.ts';
import type { Answer } from '../../test/support/scripted-server.ts';
import { systemClock } from '../kernel/index.ts';
import {
  BadRequestError,
  ExpiredError,
  KindNotFoundError,
  ResourceVersionTooLargeError,
  TooManyRequestsError,
  UnexpectedAnswerError,
  UnreachableError,
} from '../kubernetes/index.ts';
import { MemoryLimitError, WatchCutShortError } from './informer-errors.ts';
import { ListLimit } from './list-limit.ts';
import { MemoryBudget } from './memory-budget.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorOptions } from './reflector.ts';
import type { ReflectorSource } from './reflector-source.ts';

const noStreaming = new BadRequestError('no streamed lists here', { status: 400 });
const expired = new ExpiredError('too old', { status: 410 });
const tooLarge = new ResourceVersionTooLargeError('too large', { status: 504 });
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

describe('the streamed list', () => {
  test('is taken over at its end mark, with the changes that came meanwhile; the same stream goes on', async () => {
    const server = await reflect([
      {
        events: [
          event('ADDED', 'a', '1'),
          event('ADDED', 'b', '2'),
          event('MODIFIED', 'a', '3'),
          event('DELETED', 'b', '4'),
          endMark('4', 'false'),
          endMark('5'),
          event('ADDED', 'c', '6'),
        ],
      },
    ]);
    expect(stage.target.told).toEqual(['all: a', 'ADDED c']);
    expect(server.asked).toEqual(['stream ""']);
    expect(server.watches[0]).toMatchObject({ allowWatchBookmarks: true, resourceVersionMatch: 'NotOlderThan' });
  });

  test('is not taken over without its end mark', async () => {
    await reflect([{ events: [event('ADDED', 'a', '1')] }], 60_000);
    expect(stage.target.told).toEqual([]);
  });

  test('that ends before its end mark is begun again', async () => {
    const server = await reflect([{ events: [event('ADDED', 'a', '1')], end: 'closed' }, synced('2')], 800);
    expect(server.asked).toEqual(['stream ""', 'stream ""']);
    expect(stage.target.failures[0]).toBeInstanceOf(WatchCutShortError);
  });

  test.each([
    ['the server does not know it', noStreaming],
    ['it holds something malformed', malformed],
  ])('gives way to a paged list when %s, and is tried again the next time', async (_behaviour, failure) => {
    const server = await reflect(
      [failure, page('10', ['a']), { events: [], end: expired }, { events: [endMark('12')] }],
      800,
    );
    expect(server.asked).toEqual(['stream ""', 'list "0" limit 500', 'watch "10"', 'stream "10"']);
    expect(stage.target.told).toEqual(['all: a', 'all: ']);
  });

  test.each([
    ['an unreachable server', unreachable],
    ['a missing kind', new KindNotFoundError('no such kind', { group: '', version: 'v1', kind: 'ConfigMap' })],
    ['a 429', new TooManyRequestsError('slowly', 0)],
  ])('%s is no reason for a paged list', async (_behaviour, failure) => {
    const server = await reflect([failure, synced('1')], 800);
    expect(server.asked).toEqual(['stream ""', 'stream ""']);
    expect(stage.target.failures).toEqual([failure]);
  });

  test('asks for the newest state when its version is gone', async () => {
    const server = await reflect(
      [{ events: [endMark('10'), event('ADDED', 'a', '11')], end: expired }, expired, synced('20')],
      2400,
    );
    expect(server.asked).toEqual(['stream ""', 'stream "11"', 'stream ""']);
  });
});

describe('the paged list', () => {
  test('reads all pages, and watches from the version of the first', async () => {
    const server = await reflect([noStreaming, page('10', ['a'], 't1'), page('10', ['b'], 't2'), page('10', ['c'])]);
    expect(server.asked).toEqual([
      'stream ""',
      'list "0" limit 500',
      'list t1 limit 500',
      'list t2 limit 500',
      'watch "10"',
    ]);
    expect(stage.target.told).toEqual(['all: a b c']);
  });

  test('reads everything in one when a page expires', async () => {
    const server = await reflect([noStreaming, page('10', ['a'], 't1'), expired, page('11', ['a', 'b'])]);
    expect(server.asked).toEqual(['stream ""', 'list "0" limit 500', 'list t1 limit 500', 'list "0"', 'watch "11"']);
    expect(stage.target.told).toEqual(['all: a b']);
  });

  test('asks for at least its last version, unpaged, because that comes from the watch cache', async () => {
    const server = await reflect(
      [noStreaming, page('10', ['a']), { events: [], end: expired }, noStreaming, page('12', ['a'])],
      800,
    );
    expect(server.asked.slice(3)).toEqual(['stream "10"', 'list "10"', 'watch "12"']);
  });

  test('keeps to pages where the server pages a cached version: it has no watch cache', async () => {
    const server = await reflect(
      [
        noStreaming,
        page('10', ['a'], 't1'),
        page('10', ['b']),
        { events: [], end: expired },
        noStreaming,
        page('12', ['a']),
      ],
      800,
    );
    expect(server.asked.slice(4)).toEqual(['stream "10"', 'list "10" limit 500', 'watch "12"']);
  });

  test.each([
    ['has expired', expired],
    ['is too large', tooLarge],
  ])('asks for the newest state when its version %s', async (_behaviour, failure) => {
    const server = await reflect(
      [noStreaming, page('10', ['a']), { events: [], end: malformed }, noStreaming, failure, page('7', ['b'])],
      800,
    );
    expect(server.asked.slice(3)).toEqual(['stream "10"', 'list "10"', 'list "" limit 500', 'watch "7"']);
    expect(stage.target.told).toEqual(['all: a', 'all, rewound: b']);
  });

  test('comes in pages of a given size, whatever the version', async () => {
    const server = new ScriptedServer([
      noStreaming,
      page('10', ['a'], 't1'),
      page('10', ['b']),
      { events: [], end: expired },
      noStreaming,
      page('12', ['a']),
    ]);
    void newReflector(server, { pageSize: 4 }).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(800);
    expect(server.asked.filter((call) => call.startsWith('list'))).toEqual([
      'list "0" limit 4',
      'list t1 limit 4',
      'list "10" limit 4',
    ]);
  });

  test('without end is given up when it would take too much memory', async () => {
    const endless = Array.from({ length: 100 }, (_, index) =>
      page(
        '10',
        Array.from({ length: 50 }, (_item, place) => `object-${index}-${place}`),
        `t${index}`,
      ),
    );
    const server = new ScriptedServer([noStreaming, ...endless]);
    void newReflector(server, { budget: new MemoryBudget(100_000) }).run(stage.stop.signal);
    await vi.advanceTimersByTimeAsync(0);
    expect(stage.target.failures.at(-1)).toBeInstanceOf(MemoryLimitError);
    expect(server.asked.length).toBeLessThan(40);
    expect(stage.target.told).toEqual([]);
  });
});
