import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  BadRequestError,
  ExpiredError,
  ForbiddenError,
  ResourceVersionTooLargeError,
  UnexpectedAnswerError,
  UnreachableError,
} from '../../src/kubernetes/index.ts';
import type { WatchEvent } from '../../src/kubernetes/index.ts';
import { endMark, synced } from '../support/scripted-server.ts';
import type { Answer, ScriptedServer } from '../support/scripted-server.ts';
import { added, bookmark, follow, item, modified, namesIn, pageOf } from './following.ts';

const noStreaming = new BadRequestError('no streamed lists here', { status: 400 });
const expired = new ExpiredError('too old', { status: 410 });
const tooLarge = new ResourceVersionTooLargeError('too large', { status: 504 });
const refused = new UnreachableError('refused', 'ECONNREFUSED');

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('TestReflectorListAndWatch: a list at "0" in pages of 500, then a watch from the list’s version with bookmarks', async () => {
  const { server, told } = await follow([
    noStreaming,
    pageOf('3', [item('a', '1')]),
    { events: [added(item('b', '4')), modified(item('a', '5'))] },
  ]);
  expect(server.asked).toEqual(['stream ""', 'list "0" limit 500', 'watch "3"']);
  expect(server.watches[0]).toMatchObject({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' });
  expect(server.watches[1]).toMatchObject({ allowWatchBookmarks: true });
  expect(server.watches[1]).not.toHaveProperty('sendInitialEvents');
  expect(told).toEqual(['initial a@1', 'add b@4', 'update a@1 a@5']);
});

test('TestReflectorListAndWatchWithErrors: after a list that fails the objects stay, and the next list takes over', async () => {
  const forbidden = new ForbiddenError('no', { status: 403 });
  const { failures, informer, told } = await follow(
    [
      noStreaming,
      pageOf('1', [item('a', '1')]),
      { events: [], end: expired },
      noStreaming,
      forbidden,
      noStreaming,
      pageOf('3', [item('b', '3')]),
    ],
    800,
  );
  expect(namesIn(informer)).toEqual(['a']);
  expect(failures).toEqual(['BadRequestError', 'ExpiredError', 'BadRequestError', 'ForbiddenError']);
  expect(informer.lastError()).toBe(forbidden);
  await vi.advanceTimersByTimeAsync(1600);
  expect(told).toEqual(['initial a@1', 'delete a@1', 'add b@3']);
  expect(informer.lastError()).toBeUndefined();
});

test('TestReflectorListAndWatchWithErrors: after a watch that cannot be opened the objects stay, and nothing is listed', async () => {
  const start: Answer = { events: [added(item('a', '1')), endMark('1'), added(item('b', '2'))], end: 'closed' };
  const { informer, server } = await follow([start, refused], 0);
  expect(namesIn(informer)).toEqual(['a', 'b']);
  expect(informer.lastError()).toBe(refused);
  await vi.advanceTimersByTimeAsync(800);
  expect(server.asked).toEqual(['stream ""', 'watch "2"', 'watch "2"']);
  expect(namesIn(informer)).toEqual(['a', 'b']);
});

test('TestReflectorListAndWatchInitConnBackoff: refused connections are tried again with growing delays, without a list', async () => {
  const { server } = await follow([{ events: [endMark('5')], end: refused }, refused, refused, refused, synced('6')]);
  const times: number[] = [];
  const watch = server.watch.bind(server);
  vi.spyOn(server, 'watch').mockImplementation((options) => {
    times.push(performance.now());
    return watch(options);
  });
  await vi.advanceTimersByTimeAsync(800 + 1600 + 3200 + 6400);
  expect(server.asked).toEqual(['stream ""', ...Array.from({ length: 4 }, () => 'watch "5"')]);
  expect(times.slice(1).map((time, index) => Math.round(time - (times[index] ?? 0)))).toEqual([1600, 3200, 6400]);
});

const again = (answer: Answer): readonly Answer[] => [noStreaming, answer];
const brokenAfter = (...events: WatchEvent[]): Answer => ({ events, end: new UnexpectedAnswerError('malformed') });

/** The versions that lists asked for. */
function listed({ asked }: ScriptedServer): unknown[] {
  return asked.filter((call) => call.startsWith('list ')).map((call) => /"(\d*)"/.exec(call)?.[1] ?? 'continue');
}

test('TestReflectorResyncWithResourceVersion: the second list asks for the version of the first, not for "0"', async () => {
  const { server } = await follow(
    [...again(pageOf('10', [item('a', '1')])), brokenAfter(), ...again(pageOf('10', [item('a', '1')]))],
    800,
  );
  expect(listed(server)).toEqual(['0', '10']);
});

test('TestReflectorExpiredExactResourceVersion: a list whose version has expired asks for the newest state', async () => {
  const { informer, server } = await follow(
    [
      ...again(pageOf('10', [item('a', '1')])),
      brokenAfter(),
      ...again(expired),
      pageOf('11', [item('a', '1'), item('b', '11')]),
    ],
    800,
  );
  expect(listed(server)).toEqual(['0', '10', '']);
  expect(namesIn(informer)).toEqual(['a', 'b']);
});

test('TestReflectorFullListIfTooLarge: a list whose version the server does not know asks for the newest state, each time', async () => {
  const script = ['20', '30', '40'].flatMap((version): Answer[] => [
    ...(version === '20' ? again(pageOf('20', [])) : []),
    brokenAfter(bookmark(version)),
    ...again(tooLarge),
    pageOf(String(Number(version) + 10), []),
  ]);
  const { server } = await follow(script, 10_000);
  expect(listed(server)).toEqual(['0', '20', '', '30', '', '40', '']);
});
