import { describe, expect, test } from 'vitest';
import { systemClock } from '../../kernel/index.ts';
import { ExpiredError, UnexpectedAnswerError } from '../api-errors.ts';
import { ByteCollector } from './byte-collector.ts';
import { ObjectDecoder } from './object-decoder.ts';
import { readLines, readWatch, readWatchEvent } from './watch-stream.ts';

const decoder = new ObjectDecoder({ group: '', version: 'v1', kind: 'ConfigMap' });

async function* streamOf(chunks: readonly Buffer[]): AsyncGenerator<Buffer, void> {
  yield* chunks;
}

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const found: Value[] = [];
  for await (const value of values) found.push(value);
  return found;
}

async function linesOf(chunks: readonly Buffer[], maxBytes = 100): Promise<string[]> {
  return all(readLines(streamOf(chunks), new ByteCollector(maxBytes, 'test')));
}

describe('lines', () => {
  test('are the same however the bytes are cut', async () => {
    const bytes = Buffer.from('{"a":"ä😀"}\n\n{"b":1}\n');
    for (let size = 1; size <= bytes.length; size += 1) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      expect(await linesOf(chunks)).toEqual(['{"a":"ä😀"}', '', '{"b":1}']);
    }
  });

  test('the end of a line that was cut off is dropped', async () => {
    expect(await linesOf([Buffer.from('{"a":1}\n{"b"')])).toEqual(['{"a":1}']);
  });

  test.each([
    ['in one chunk', [`${'x'.repeat(101)}\n`]],
    ['that never ends', ['x'.repeat(60), 'x'.repeat(60)]],
  ])('a line over the limit, %s, ends the stream', async (_behaviour, texts) => {
    await expect(linesOf(texts.map((text) => Buffer.from(text)))).rejects.toThrow(UnexpectedAnswerError);
  });
});

const eventLine = (type: unknown, object: unknown): string => JSON.stringify({ type, object });
const metadata = { name: 'settings', namespace: 'shop', resourceVersion: '7' };
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata };

describe('events', () => {
  test('bear type and object', () => {
    expect(readWatchEvent(eventLine('ADDED', configMap), decoder)).toEqual({ type: 'ADDED', object: configMap });
  });

  test('a bookmark has no name', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: '9' } };
    expect(readWatchEvent(eventLine('BOOKMARK', object), decoder)).toEqual({ type: 'BOOKMARK', object });
  });

  test('an ERROR is thrown as what it is', () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    expect(() => readWatchEvent(eventLine('ERROR', status), decoder)).toThrow(ExpiredError);
  });

  test('an ERROR of 404 does not say that the kind is not served: the path was found', () => {
    const status = { kind: 'Status', code: 404, message: 'lost' };
    expect(() => readWatchEvent(eventLine('ERROR', status), decoder)).toThrow(
      expect.objectContaining({ name: 'ApiError', status: 404 }),
    );
  });

  test.each([
    ['no JSON', '{"type":'],
    ['no object', 'null'],
    ['an event without an object', '{"type":"ADDED"}'],
    ['an unknown type', eventLine('PATCHED', configMap)],
    ['another kind', eventLine('ADDED', { ...configMap, kind: 'Secret' })],
    ['another version', eventLine('ADDED', { ...configMap, apiVersion: 'v2' })],
    ['only metadata, unasked', eventLine('ADDED', { ...configMap, kind: 'PartialObjectMetadata' })],
    ['no name', eventLine('ADDED', { ...configMap, metadata: { name: '' } })],
    ['no metadata', eventLine('ADDED', { apiVersion: 'v1', kind: 'ConfigMap' })],
    ['a bookmark without a version', eventLine('BOOKMARK', { ...configMap, metadata: {} })],
    ['an ERROR without a code', eventLine('ERROR', { kind: 'Status' })],
    ['a bottomless object', `{"type":"ADDED","object":${'{"a":'.repeat(100_000)}`],
  ])('%s is malformed', (_behaviour, text) => {
    expect(() => readWatchEvent(text, decoder)).toThrow(UnexpectedAnswerError);
  });

  test('a malformed line is not quoted: it may be a Secret', () => {
    try {
      readWatchEvent('{"type":"ADDED","object":{"data":{"key":"swordfish', decoder);
      expect.unreachable();
    } catch (error) {
      expect(JSON.stringify([String(error), String((error as Error).cause)])).not.toContain('swordfish');
    }
  });
});

describe('a stream', () => {
  const { signal } = new AbortController();

  test('ends with its signal, in the middle of what has been received', async () => {
    const stop = new AbortController();
    const lines = Buffer.from(`${eventLine('ADDED', configMap)}\n`.repeat(5));
    const reading = { clock: systemClock, maxBytes: 1000, signal: stop.signal };
    let count = 0;
    for await (const event of readWatch(streamOf([lines]), decoder, reading)) {
      count += event.type === 'ADDED' ? 1 : 0;
      if (count === 2) stop.abort();
    }
    expect(count).toBe(2);
  });

  test('passes objects through the transform, but no bookmarks', async () => {
    const transforming = new ObjectDecoder(decoder.gvk, {
      transform: (object) => ({ ...object, metadata: { name: 'changed' } }),
    });
    const bookmark = { ...configMap, metadata: { resourceVersion: '9' } };
    const lines = `${eventLine('MODIFIED', configMap)}\n\n${eventLine('BOOKMARK', bookmark)}\n`;
    const events = readWatch(streamOf([Buffer.from(lines)]), transforming, {
      clock: systemClock,
      maxBytes: 1000,
      signal,
    });
    const seen = await all(events);
    expect(seen.map(({ type, object }) => [type, object.metadata])).toEqual([
      ['MODIFIED', { name: 'changed' }],
      ['BOOKMARK', { resourceVersion: '9' }],
    ]);
  });

  test('gives the event loop back however many events there are at once', async () => {
    const lines = Buffer.from(
      `${eventLine('ADDED', { ...configMap, data: { key: 'x'.repeat(2000) } })}\n`.repeat(10_000),
    );
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const events = readWatch(streamOf([lines]), decoder, { clock: systemClock, maxBytes: 10_000, signal });
    let count = 0;
    for await (const event of events) count += event.type === 'ADDED' ? 1 : 0;
    isOver = true;
    expect(count).toBe(10_000);
    expect(turns).toBeGreaterThan(3);
  });
});
