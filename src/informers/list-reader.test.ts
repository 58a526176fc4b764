import { describe, expect, test, vi } from 'vitest';
import { endMark, event, page, ScriptedServer } from '../../test/support/scripted-server.ts';
import { ExpiredError } from '../kubernetes/index.ts';
import type { WatchEvent } from '../kubernetes/index.ts';
import { MemoryLimitError } from './informer-errors.ts';
import { ListReader } from './list-reader.ts';
import { MemoryBudget } from './memory-budget.ts';

const progress = vi.fn();

function newReader(bytes = 1_000_000): ListReader {
  return new ListReader(new MemoryBudget(bytes), { progress, release: () => undefined });
}

async function* streamOf(events: readonly WatchEvent[]): AsyncGenerator<WatchEvent, void> {
  yield* events;
}

const request = { resourceVersion: '0', limit: 500, pageSize: 500, signal: new AbortController().signal };

describe('a streamed list', () => {
  test('makes progress with each event', async () => {
    progress.mockClear();
    await newReader().readStream(streamOf([event('ADDED', 'a', '1'), event('ADDED', 'b', '2'), endMark('2')]));
    expect(progress).toHaveBeenCalledTimes(3);
  });

  test('takes room for each object once, however often it changes meanwhile', async () => {
    const changes = Array.from({ length: 100 }, (_, version) => event('MODIFIED', 'a', String(version)));
    const list = await newReader(1000).readStream(streamOf([...changes, endMark('100')]));
    expect(list.objects.size).toBe(1);
    const others = Array.from({ length: 100 }, (_, index) => event('ADDED', `object-${index}`, '1'));
    await expect(newReader(1000).readStream(streamOf(others))).rejects.toThrow(MemoryLimitError);
  });

  test('weighs what it holds', async () => {
    const both = [event('ADDED', 'a', '1'), event('ADDED', 'b', '2')];
    const { size: one } = await newReader().readStream(streamOf([...both.slice(0, 1), endMark('2')]));
    const { size: two } = await newReader().readStream(streamOf([...both, endMark('2')]));
    const { size: none } = await newReader().readStream(
      streamOf([both[0] ?? endMark('1'), event('DELETED', 'a', '2'), endMark('2')]),
    );
    expect([one, two, none]).toEqual([one, 2 * one, 0]);
    expect(one).toBeGreaterThan(0);
  });
});

describe('pages', () => {
  test('make progress with each page', async () => {
    progress.mockClear();
    await newReader().readPages(new ScriptedServer([page('10', ['a'], 't1'), page('10', ['b'])]), request);
    expect(progress).toHaveBeenCalledTimes(2);
  });

  test('are forgotten when one has expired: what was deleted since the first must not come back', async () => {
    const expired = new ExpiredError('too old', { status: 410 });
    const server = new ScriptedServer([page('10', ['gone'], 't1'), expired, page('12', ['there'])]);
    const list = await newReader().readPages(server, request);
    expect([...list.objects.keys()]).toEqual(['there']);
    expect(list.resourceVersion).toBe('12');
  });
});
