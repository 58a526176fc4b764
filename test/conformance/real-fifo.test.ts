import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ExpiredError } from '../../src/kubernetes/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { endMark, ScriptedServer, synced } from '../support/scripted-server.ts';
import type { Answer } from '../support/scripted-server.ts';
import { added, deleted, follow, item, modified, namesIn, noting, prepare } from './following.ts';

const expired = new ExpiredError('too old', { status: 410 });

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A streamed list of these objects at a version. */
function listOf(resourceVersion: string, ...objects: KubernetesObject[]): { events: ReturnType<typeof added>[] } {
  return { events: [...objects.map(added), endMark(resourceVersion)] };
}

/** A list, then the events of its stream, then a second list. */
function relisted(
  first: { events: ReturnType<typeof added>[] },
  events: readonly ReturnType<typeof added>[],
  second: Answer,
): Answer[] {
  return [{ events: [...first.events, ...events], end: expired }, second];
}

test('TestRealFIFO_basic: many objects are told in the order in which they came', async () => {
  const names = Array.from({ length: 500 }, (_, index) => `foo${index}`);
  const { told } = await follow([
    { events: [endMark('1'), ...names.map((name, index) => added(item(name, String(index + 2))))] },
  ]);
  expect(told).toEqual(names.map((name, index) => `add ${name}@${index + 2}`));
});

test('TestRealFIFO_addUpdate: every state of an object is told, the newest last', async () => {
  const { told } = await follow([
    { events: [endMark('1'), added(item('foo', '10')), modified(item('foo', '12')), modified(item('foo', '15'))] },
  ]);
  expect(told).toEqual(['add foo@10', 'update foo@10 foo@12', 'update foo@12 foo@15']);
});

test('TestRealFIFO_addReplace: an object that a list has newer is told as an update', async () => {
  const { told } = await follow(
    relisted(listOf('1'), [added(item('foo', '10'))], listOf('15', item('foo', '15'))),
    800,
  );
  expect(told).toEqual(['add foo@10', 'update foo@10 foo@15']);
});

test('TestRealFIFO_replaceWithDeleteDeltaIn: what was deleted and is not in the next list is deleted once', async () => {
  const events = [deleted(item('foo', '11'))];
  const { told } = await follow(relisted(listOf('10', item('foo', '10')), events, listOf('12')), 800);
  expect(told).toEqual(['initial foo@10', expect.stringMatching(/^delete foo@/)]);
});

test('TestRealFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue: what a watch brought and the next list lacks is deleted', async () => {
  const { informer, told } = await follow(relisted(listOf('1'), [added(item('foo', '2'))], listOf('3')), 800);
  expect(told).toEqual(['add foo@2', 'delete foo@2']);
  expect(namesIn(informer)).toEqual([]);
});

test('TestRealFIFO_ReplaceMakesDeletions: what the next list lacks is deleted with its last known state, before additions', async () => {
  const first = listOf('7', item('foo', '5'), item('bar', '6'), item('baz', '7'));
  const { told } = await follow(relisted(first, [], listOf('9', item('foo', '5'), item('new', '9'))), 800);
  expect(told.slice(3)).toEqual(['delete bar@6', 'delete baz@7', 'add new@9']);
});

test('TestRealFIFO_ReplaceMakesDeletionsReplaced: deletions go before the updates of a list', async () => {
  const first = listOf('7', item('foo', '5'), item('bar', '6'), item('baz', '7'));
  const { told } = await follow(relisted(first, [deleted(item('baz', '10'))], listOf('11', item('foo', '6'))), 800);
  expect(told.slice(3)).toEqual([expect.stringMatching(/^delete baz@/), 'delete bar@6', 'update foo@5 foo@6']);
});

test('TestRealFIFO_enqueueingNoLister: the deletion of what was never told is not told', async () => {
  const { told } = await follow([
    {
      events: [
        endMark('1'),
        added(item('foo', '10')),
        added(item('qux', '17')),
        deleted(item('qux', '18')),
        deleted(item('baz', '20')),
      ],
    },
  ]);
  expect(told).toEqual(['add foo@10', 'add qux@17', expect.stringMatching(/^delete qux@/)]);
});

test('TestRealFIFO_enqueueingWithLister: the deletion of what is known is told', async () => {
  const { told } = await follow([
    { events: [...listOf('5', item('foo', '5'), item('bar', '5')).events, deleted(item('foo', '18'))] },
  ]);
  expect(told.at(-1)).toMatch(/^delete foo@/);
});

test('TestRealFIFO_ResyncNonExisting: a resync does not bring back what was deleted', async () => {
  const { told } = await follow(
    [{ events: [...listOf('5', item('foo', '5')).events, deleted(item('foo', '10'))] }],
    5000,
    {
      resyncPeriod: 1000,
    },
  );
  expect(told).toEqual(['initial foo@5', expect.stringMatching(/^delete foo@/)]);
});

test('TestRealFIFO_Resync: a resync tells each object once', async () => {
  const { told } = await follow([listOf('5', item('foo', '5'))], 1000, { resyncPeriod: 1000 });
  expect(told).toEqual(['initial foo@5', 'update foo@5 foo@5']);
});

test('TestRealFIFO_DeleteExistingNonPropagated: an object that came and went between two lists was told twice', async () => {
  const { told } = await follow([{ events: [endMark('1'), added(item('foo', '5')), deleted(item('foo', '6'))] }]);
  expect(told).toEqual(['add foo@5', expect.stringMatching(/^delete foo@/)]);
});

test('TestRealFIFO_UpdateResyncRace: a resync never tells an older state after a newer one', async () => {
  const { told } = await follow(
    [{ events: [...listOf('5', item('foo', '5')).events, modified(item('foo', '6'))] }],
    1000,
    {
      resyncPeriod: 1000,
    },
  );
  expect(told).toEqual(['initial foo@5', 'update foo@5 foo@6', 'update foo@6 foo@6']);
});

test('TestRealFIFO_HasSyncedCorrectOnDeletion: a handler has synced when it has been told all of the first list', async () => {
  const server = new ScriptedServer([listOf('5', item('foo', '5'), item('bar', '5'))]);
  const { factory, informer } = prepare(server);
  const states: boolean[] = [];
  const registration = informer.addHandler({ onAdd: () => void states.push(registration.hasSynced()) });
  factory.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(states).toEqual([false, false]);
  expect(registration.hasSynced()).toBe(true);
});

test.each([
  ['no list has come', [{ events: [] }], false],
  ['the first list is empty', [synced('1')], true],
  ['the first list has not ended', [{ events: [added(item('a', '1')), added(item('b', '2'))] }], false],
  ['the first list was told', [listOf('2', item('a', '1'), item('b', '2'))], true],
  ['the first list failed', [expired], false],
  [
    'a key stands twice in the first list',
    [{ events: [added(item('a', '1')), added(item('a', '2')), endMark('2')] }],
    true,
  ],
] as readonly (readonly [string, Answer[], boolean])[])(
  'TestRealFIFO_HasSynced: when %s',
  async (_state, script, expected) => {
    const { informer } = await follow(script);
    expect(informer.hasSynced()).toBe(expected);
  },
);

test('TestRealFIFO_detectLineJumpers: an object that changes gets no better place by having been first', async () => {
  const { told } = await follow([
    {
      events: [
        endMark('1'),
        added(item('foo', '10')),
        added(item('bar', '11')),
        modified(item('foo', '13')),
        added(item('zab', '14')),
      ],
    },
  ]);
  expect(told).toEqual(['add foo@10', 'add bar@11', 'update foo@10 foo@13', 'add zab@14']);
});

test('TestRealFIFO_PopShouldUnblockWhenClosed: who waits for the first list is let go when the factory stops', async () => {
  const { factory } = await follow([{ events: [] }]);
  const waiting = Array.from({ length: 10 }, () => factory.waitForSync());
  await factory.stop();
  await expect(Promise.all(waiting)).resolves.toEqual(waiting.map(() => false));
});

test('TestRealFIFO_ReplaceAtomic: a handler that looks around while it is told of a list sees the whole of it', async () => {
  const server = new ScriptedServer(
    relisted(listOf('5', item('a', '1'), item('b', '1')), [], listOf('9', item('b', '2'), item('c', '3'))),
  );
  const { factory, informer } = prepare(server);
  const seen: string[][] = [];
  const look = (): void => void seen.push(namesIn(informer));
  informer.addHandler({ onAdd: look, onUpdate: look, onDelete: look });
  factory.start();
  await vi.advanceTimersByTimeAsync(800);
  expect(seen).toEqual([
    ['a', 'b'],
    ['a', 'b'],
    ['b', 'c'],
    ['b', 'c'],
    ['b', 'c'],
  ]);
});

test('TestRealFIFO_ResyncAtomic: a handler that is added in the middle of a resync is told each object once', async () => {
  const { informer } = await follow([listOf('5', item('a', '1'), item('b', '1'))], 0, { resyncPeriod: 1000 });
  const late: string[] = [];
  let isFirst = true;
  informer.addHandler({
    onUpdate: () => {
      if (isFirst) informer.addHandler(noting(late));
      isFirst = false;
    },
  });
  await vi.advanceTimersByTimeAsync(1000);
  expect(late).toEqual(['initial a@1', 'initial b@1']);
});

test('TestProcessDeltasInBatch: the store has a change before it is told, and keeps it when a handler throws', async () => {
  const server = new ScriptedServer([{ events: [endMark('1'), added(item('a', '2')), added(item('b', '3'))] }]);
  const { factory, informer, told } = prepare(server);
  const seen: unknown[] = [];
  informer.addHandler({
    onAdd: ({ metadata }) => {
      seen.push(informer.lister.get(metadata.name ?? '')?.metadata.resourceVersion);
      throw new Error('unforeseen');
    },
  });
  factory.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(seen).toEqual(['2', '3']);
  expect(told).toEqual(['add a@2', 'add b@3']);
  expect(namesIn(informer)).toEqual(['a', 'b']);
});
