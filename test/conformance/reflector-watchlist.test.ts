import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  ApiError,
  ExpiredError,
  InvalidError,
  TooManyRequestsError,
  UnexpectedAnswerError,
} from '../../src/kubernetes/index.ts';
import { endMark, synced } from '../support/scripted-server.ts';
import { added, bookmark, deleted, follow, item, modified, namesIn, pageOf } from './following.ts';

const invalid = new InvalidError('sendInitialEvents is forbidden', [], { status: 422 });
const expired = new ExpiredError('too old', { status: 410 });
const slowly = new TooManyRequestsError('slowly', 0);
const malformed = new UnexpectedAnswerError('malformed');
const internal = new ApiError('internal', { status: 500 });

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("TestWatchList/the reflector won't be synced if the bookmark event has been received: not without the mark", async () => {
  const { informer, server, told } = await follow([{ events: [added(item('p1', '1'))], end: 'closed' }, synced('2')]);
  expect(informer.hasSynced()).toBe(false);
  expect(namesIn(informer)).toEqual([]);
  expect(told).toEqual([]);
  expect(server.asked).toEqual(['stream ""']);
});

test.each([
  ['TestWatchList/returning any other error than apierrors.NewInvalid forces fallback', internal],
  [
    "TestWatchList/the reflector can fall back to old LIST/WATCH semantics when a server doesn't support streaming",
    invalid,
  ],
])('%s: the paged list is tried at once', async (_name, failure) => {
  const { informer, server } = await follow([failure, pageOf('1', [item('p1', '1')])]);
  expect(server.asked).toEqual(['stream ""', 'list "0" limit 500', 'watch "1"']);
  expect(informer.hasSynced()).toBe(true);
});

test('TestWatchList/prove that the reflector is synced after receiving a bookmark event: and the same stream goes on', async () => {
  const { informer, server, told } = await follow([
    { events: [added(item('p1', '1')), endMark('2'), added(item('p2', '3'))] },
  ]);
  expect(informer.hasSynced()).toBe(true);
  expect(told).toEqual(['initial p1@1', 'add p2@3']);
  expect(server.asked).toEqual(['stream ""']);
  expect(server.watches[0]).toMatchObject({
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: true,
  });
});

test('TestWatchList/check if Updates and Deletes events are propagated during streaming (until the bookmark is received): one replacement holds them', async () => {
  const { informer, told } = await follow([
    {
      events: [
        added(item('p1', '1')),
        added(item('p2', '2')),
        modified(item('p1', '3')),
        added(item('p3', '4')),
        deleted(item('p3', '5')),
        endMark('5'),
      ],
    },
  ]);
  expect(told.toSorted()).toEqual(['initial p1@3', 'initial p2@2']);
  expect(namesIn(informer)).toEqual(['p1', 'p2']);
});

test('TestWatchList/checks if the reflector retries 429: three times, by streams, and no paged list', async () => {
  const { informer, server } = await follow([slowly, slowly, slowly, synced('1')], 800 + 1600 + 3200);
  expect(server.asked).toEqual(Array.from({ length: 4 }, () => 'stream ""'));
  expect(informer.hasSynced()).toBe(true);
});

test('TestWatchList/check if stopping a watcher before sync results in creating a new watch-list request: from the beginning', async () => {
  const { informer, server, told } = await follow(
    [{ events: [added(item('p1', '1'))], end: 'closed' }, { events: [added(item('p2', '2')), endMark('2')] }],
    800,
  );
  expect(server.asked).toEqual(['stream ""', 'stream ""']);
  expect(told).toEqual(['initial p2@2']);
  expect(namesIn(informer)).toEqual(['p2']);
});

test('TestWatchList/stopping a watcher after synchronization results in creating a new watch request: from the last version', async () => {
  const { server } = await follow([{ events: [endMark('1'), added(item('p1', '2'))], end: 'closed' }]);
  expect(server.asked).toEqual(['stream ""', 'watch "2"']);
  expect(server.watches[1]).not.toHaveProperty('sendInitialEvents');
});

test('TestWatchList/expiring an established watcher results in returning an error from the reflector: and a new stream', async () => {
  const { failures, server } = await follow([{ events: [endMark('1')], end: expired }, synced('7')], 800);
  expect(failures).toEqual(['ExpiredError']);
  expect(server.asked).toEqual(['stream ""', 'stream "1"']);
});

test('TestWatchList/prove that the reflector is checking the value of the initialEventsEnd annotation: "false" is no mark', async () => {
  const { informer } = await follow([{ events: [added(item('p1', '1')), endMark('2', 'false'), bookmark('3')] }]);
  expect(informer.hasSynced()).toBe(false);
});

test('TestWatchListResourceVersion: the first stream asks for the newest state, the next for at least the last version', async () => {
  const { server } = await follow([{ events: [endMark('10'), bookmark('12')], end: malformed }, synced('13')], 800);
  expect(server.asked).toEqual(['stream ""', 'stream "12"']);
});

test('Beyond/a fall-back to pages is for one list: the next tries the stream again', async () => {
  const { server } = await follow([internal, pageOf('1', []), { events: [], end: expired }, synced('2')], 800);
  expect(server.asked).toEqual(['stream ""', 'list "0" limit 500', 'watch "1"', 'stream "1"']);
});
