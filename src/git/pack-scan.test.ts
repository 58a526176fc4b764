import { hash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import type { GitErrorReason } from './git-error.ts';
import { scanPack } from './pack-scan.ts';

const LIMITS = { objects: 10, objectBytes: 1000, inflatedBytes: 3000 };
const BLOB = 3;
const OFFSET_DELTA = 6;
const REFERENCE_DELTA = 7;

/** The head of an object: its type, and its size in seven bits a byte after the first four. */
function head(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 128;
    bytes.push(rest & 127);
  }
  return Buffer.from(bytes);
}

function object(type: number, content: Buffer, options: { size?: number; base?: Buffer } = {}): Buffer {
  return Buffer.concat([
    head(type, options.size ?? content.length),
    options.base ?? Buffer.alloc(0),
    deflateSync(content),
  ]);
}

function blob(content: string | Buffer, size?: number): Buffer {
  return object(BLOB, Buffer.from(content), size === undefined ? {} : { size });
}

function pack(objects: readonly Buffer[], count = objects.length): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  return signed(Buffer.concat([header, ...objects]));
}

function signed(body: Buffer): Buffer {
  return Buffer.concat([body, hash('sha1', body, 'buffer')]);
}

function varint(size: number): Buffer {
  const bytes = [size & 127];
  for (let rest = size >> 7; rest > 0; rest >>= 7) {
    bytes[bytes.length - 1]! |= 128;
    bytes.push(rest & 127);
  }
  return Buffer.from(bytes);
}

function delta(from: number, to: number): Buffer {
  return Buffer.concat([varint(from), varint(to), Buffer.from([1, 120])]);
}

describe('a pack is taken', () => {
  test.each([
    ['without objects', pack([])],
    ['with objects of all lengths', pack([blob(''), blob('x'), blob('y'.repeat(15)), blob('z'.repeat(900))])],
    ['with deltas', pack([blob('x'), object(OFFSET_DELTA, delta(1, 1), { base: Buffer.from([blob('x').length]) })])],
    [
      'with a delta to an object that is here already',
      pack([object(REFERENCE_DELTA, delta(1, 1), { base: Buffer.alloc(20) })]),
    ],
  ])('%s', (_what, bytes) => {
    expect(() => scanPack(bytes, LIMITS)).not.toThrow();
  });
});

describe('a pack is refused', () => {
  const whole = pack([blob('hello'), blob('world')]);
  const flipped = Buffer.from(whole);
  flipped[14]! ^= 1;
  const cases: [string, GitErrorReason, Buffer][] = [
    ['that is empty', 'Corrupt', Buffer.alloc(0)],
    ['that is cut off', 'Corrupt', whole.subarray(0, -5)],
    ['that is cut off, with a checksum that fits', 'Corrupt', signed(whole.subarray(0, -25))],
    ['with a flipped bit', 'Corrupt', flipped],
    ['of another format', 'Corrupt', signed(Buffer.from('KCAP\0\0\0\x02\0\0\0\0'))],
    ['of an unknown version', 'Corrupt', signed(Buffer.from('PACK\0\0\0\x04\0\0\0\0'))],
    ['with less objects than it says', 'Corrupt', pack([blob('x')], 2)],
    ['with more objects than it says', 'Corrupt', pack([blob('x'), blob('y')], 1)],
    ['with an object longer than it says', 'Corrupt', pack([blob('hello', 3)])],
    ['with an object shorter than it says', 'Corrupt', pack([blob('hello', 7)])],
    ['with an object of no type', 'Corrupt', pack([object(5, Buffer.from('x'))])],
    [
      'with a delta whose base is nowhere',
      'Corrupt',
      pack([object(OFFSET_DELTA, delta(1, 1), { base: Buffer.from([3]) })]),
    ],
    ['with a delta of itself', 'Corrupt', pack([object(OFFSET_DELTA, delta(1, 1), { base: Buffer.from([0]) })])],
    ['with too many objects', 'LimitExceeded', pack([], 11)],
    ['with too large an object', 'LimitExceeded', pack([blob('x'.repeat(1001))])],
    ['that declares a size no memory has', 'LimitExceeded', pack([blob('x', 2 ** 45)])],
    ['with too much in all', 'LimitExceeded', pack(Array.from({ length: 4 }, () => blob('x'.repeat(800))))],
    [
      'with a delta that makes too much',
      'LimitExceeded',
      pack([blob('x'), object(REFERENCE_DELTA, delta(1, 5000), { base: Buffer.alloc(20) })]),
    ],
    ['with a bomb behind a small size', 'Corrupt', pack([blob(Buffer.alloc(50_000_000), 10)])],
  ];

  test.each(cases)('%s: %s', (_what, reason, bytes) => {
    expect(() => scanPack(bytes, LIMITS)).toThrow(expect.objectContaining({ reason }) as Error);
  });

  test('before a bomb costs memory', () => {
    const bytes = pack([blob(Buffer.alloc(50_000_000), 10)]);
    const before = process.memoryUsage().arrayBuffers;
    expect(() => scanPack(bytes, LIMITS)).toThrow();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5_000_000);
  });
});
