import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError, BadRequestError, ExpiredError, UnexpectedAnswerError } from '../../src/kubernetes/index.ts';
import type { ListPage } from '../../src/kubernetes/index.ts';
import type { Answer } from '../support/scripted-server.ts';
import { follow, item, namesIn, pageOf } from './following.ts';

const noStreaming = new BadRequestError('no streamed lists here', { status: 400 });
const expired = new ExpiredError('too old', { status: 410 });
const broken: Answer = { events: [], end: new UnexpectedAnswerError('malformed') };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const names = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `pod-${String(index).padStart(4, '0')}`);

/** A list of so many objects in pages of so many, the version of each page one higher than that of the page before. */
function pages(count: number, size: number): ListPage[] {
  const items = names(count).map((name) => item(name, '1'));
  const starts = Array.from({ length: Math.max(1, Math.ceil(count / size)) }, (_, index) => index * size);
  return starts.map((start, index) =>
    pageOf(String(10 + index), items.slice(start, start + size), start + size < count ? `t${index + 1}` : undefined),
  );
}

test.each([
  ['empty page', 0, []],
  ['one page', 9, []],
  ['one full page', 10, []],
  ['two pages', 11, ['list t1 limit 500']],
  ['three pages', 29, ['list t1 limit 500', 'list t2 limit 500']],
])(
  'TestListPager_List/%s: all objects of all pages, and the version of the first page',
  async (_case, count, further) => {
    const { informer, server } = await follow([noStreaming, ...pages(count, 10)]);
    expect(namesIn(informer)).toEqual(names(count));
    expect(server.asked).toEqual(['stream ""', 'list "0" limit 500', ...further, 'watch "10"']);
  },
);

test('TestListPager_List/expires on second page: the whole is listed in one, with the version that was asked for', async () => {
  const [first, , ...rest] = pages(29, 10);
  const { informer, server } = await follow([
    noStreaming,
    first as ListPage,
    expired,
    pageOf('20', [item('a', '1')]),
    ...rest,
  ]);
  expect(server.asked).toEqual(['stream ""', 'list "0" limit 500', 'list t1 limit 500', 'list "0"', 'watch "20"']);
  expect(namesIn(informer)).toEqual(['a']);
});

test('TestListPager_List/expires on second page and then lists: the pages read before are not mixed into the full list', async () => {
  const [first] = pages(29, 10);
  const { told } = await follow([noStreaming, first as ListPage, expired, pageOf('20', [item('only', '1')])]);
  expect(told).toEqual(['initial only@1']);
});

test('Beyond/a page that fails takes nothing over: the list begins anew', async () => {
  const [first] = pages(29, 10);
  const failing = [noStreaming, first as ListPage, new ApiError('internal', { status: 500 })];
  const { failures, informer, server } = await follow([...failing, noStreaming, pageOf('30', [item('a', '1')])]);
  expect(informer.hasSynced()).toBe(false);
  expect(namesIn(informer)).toEqual([]);
  expect(failures).toContain('ApiError');
  await vi.advanceTimersByTimeAsync(800);
  expect(namesIn(informer)).toEqual(['a']);
  expect(server.asked.slice(-2)).toEqual(['list "0" limit 500', 'watch "30"']);
});

test('TestReflectorWatchListPageSize: continue tokens are followed to the last page', async () => {
  const { informer, server } = await follow([noStreaming, ...pages(10, 4)]);
  expect(namesIn(informer)).toHaveLength(10);
  expect(server.asked.filter((call) => call.startsWith('list t'))).toEqual(['list t1 limit 500', 'list t2 limit 500']);
});

test('TestReflectorNotPaginatingNotConsistentReads: a list at a certain version is asked for whole', async () => {
  const { server } = await follow([noStreaming, pageOf('10', []), broken, noStreaming, pageOf('10', [])], 800);
  expect(server.asked.filter((call) => call.startsWith('list'))).toEqual(['list "0" limit 500', 'list "10"']);
});

test('TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled: a server that pages "0" is asked for pages ever after', async () => {
  const { server } = await follow([noStreaming, ...pages(8, 4), broken, noStreaming, ...pages(8, 4)], 800);
  const lists = server.asked.filter((call) => call.startsWith('list'));
  expect(lists).toEqual(['list "0" limit 500', 'list t1 limit 500', 'list "10" limit 500', 'list t1 limit 500']);
});

test('TestReflectorFullListIfExpired: a page that expires is answered by a full list of the version that was asked for', async () => {
  const [first, second] = pages(8, 4) as [ListPage, ListPage];
  const { server, informer } = await follow(
    [
      noStreaming,
      first,
      second,
      broken,
      noStreaming,
      pageOf('11', first.items, 'C1'),
      expired,
      pageOf('11', [...first.items, ...second.items]),
    ],
    800,
  );
  const lists = server.asked.filter((call) => call.startsWith('list'));
  expect(lists.slice(2)).toEqual(['list "10" limit 500', 'list C1 limit 500', 'list "10"']);
  expect(namesIn(informer)).toHaveLength(8);
});

test('TestListPager_List/two pages with resourceVersion: the second page is asked for by its token alone', async () => {
  const [first, second] = pages(8, 4) as [ListPage, ListPage];
  const { server } = await follow([noStreaming, first, second]);
  expect(server.asked[2]).toBe('list t1 limit 500');
});
