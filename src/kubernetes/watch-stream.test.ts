import { describe, expect, test } from 'vitest';
import { ExpiredError, UnexpectedAnswerError } from './api-errors.ts';
import { readLines, readWatchEvent } from './watch-stream.ts';

const gvk = { group: '', version: 'v1', kind: 'ConfigMap' };

async function linesOf(chunks: readonly Buffer[], maxBytes = 100): Promise<string[]> {
  const stream = async function* (): AsyncGenerator<Buffer, void> {
    yield* chunks;
  };
  const lines: string[] = [];
  for await (const line of readLines(stream(), maxBytes)) lines.push(line);
  return lines;
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

describe('events', () => {
  test('bear type and object', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    expect(readWatchEvent(eventLine('ADDED', object), gvk)).toEqual({ type: 'ADDED', object });
  });

  test('a bookmark has no name', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: '9' } };
    expect(readWatchEvent(eventLine('BOOKMARK', object), gvk)).toEqual({ type: 'BOOKMARK', object });
  });

  test('an ERROR is thrown as what it is', () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    expect(() => readWatchEvent(eventLine('ERROR', status), gvk)).toThrow(ExpiredError);
  });

  test.each([
    ['no JSON', '{"type":'],
    ['no object', 'null'],
    ['an event without an object', '{"type":"ADDED"}'],
    ['an unknown type', eventLine('PATCHED', { apiVersion: 'v1', kind: 'ConfigMap', metadata })],
    ['another kind', eventLine('ADDED', { apiVersion: 'v1', kind: 'Secret', metadata })],
    ['another version', eventLine('ADDED', { apiVersion: 'v2', kind: 'ConfigMap', metadata })],
    ['no name', eventLine('ADDED', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '' } })],
    ['no metadata', eventLine('ADDED', { apiVersion: 'v1', kind: 'ConfigMap' })],
    ['a bookmark without a version', eventLine('BOOKMARK', { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} })],
    ['an ERROR without a code', eventLine('ERROR', { kind: 'Status' })],
    ['a bottomless object', `{"type":"ADDED","object":${'{"a":'.repeat(100_000)}`],
  ])('%s is malformed', (_behaviour, text) => {
    expect(() => readWatchEvent(text, gvk)).toThrow(UnexpectedAnswerError);
  });
});
