import { expect, test } from 'vitest';

import { packOf } from './pkt-line.ts';

const FLUSH = '0000';

function line(content: string): string {
  return (content.length + 4).toString(16).padStart(4, '0') + content;
}

function answer(...lines: string[]): Buffer {
  return Buffer.from(lines.join(''), 'latin1');
}

test('the pack is put together from the band of its data', () => {
  const bytes = answer(
    line('shallow 1\n'),
    FLUSH,
    line('NAK\n'),
    line('\x01PA'),
    line('\x02counting'),
    line('\x01CK'),
    FLUSH,
  );
  expect(packOf(bytes)?.toString()).toBe('PACK');
});

test('an answer without news has no pack', () => {
  expect(packOf(answer(line('NAK\n'), FLUSH))).toBeUndefined();
});

test.each([
  ['in the middle of a line', answer(line('NAK\n'), line('\x01PACK').slice(0, -2))],
  ['between lines', answer(line('NAK\n'), line('\x01PACK'))],
  ['at once', answer()],
])('an answer that ends %s is not taken for a whole one', (_place, bytes) => {
  expect(() => packOf(bytes)).toThrow(expect.objectContaining({ reason: 'Corrupt' }) as Error);
});

test('something else than packet lines is not Git', () => {
  expect(() => packOf(answer('<!doctype html>'))).toThrow(expect.objectContaining({ reason: 'NotGit' }) as Error);
  expect(() => packOf(answer('0003'))).toThrow(expect.objectContaining({ reason: 'NotGit' }) as Error);
});

test("the server's own failure is reported, but its words are not repeated", () => {
  expect(() => packOf(answer(line('\x03secret of the server'), FLUSH))).toThrow(/failed while it made the pack/);
});
