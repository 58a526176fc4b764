import { hash } from 'node:crypto';
import { inflateSync, type ZlibOptions } from 'node:zlib';

import { GitError } from './git-error.ts';
import type { GitLimits } from './git-limits.ts';

const HEADER_LENGTH = 12;
const TRAILER_LENGTH = 20;
const OFFSET_DELTA = 6;
const REFERENCE_DELTA = 7;
/** Git's own limit for a chain of deltas. */
const LONGEST_CHAIN = 4095;

/** The sizes in a pack that a scan adds up. */
type PackLimits = Pick<GitLimits, 'inflatedBytes' | 'objectBytes' | 'objects'>;

/** What inflateSync answers with `info: true`, which @types/node does not know. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}
const inflateWithInfo = inflateSync as unknown as (input: Buffer, options: ZlibOptions) => Inflated;

/**
 * Looks through a pack before anything indexes it: checksum, number of objects, size of each object and of all of them
 * (of what deltas make, too). Nothing is inflated beyond its declared size, so that a bomb costs its declaration only.
 *
 * @throws GitError `Corrupt` when it is not a whole pack, `LimitExceeded` when it is too large
 */
export function scanPack(pack: Buffer, limits: PackLimits): void {
  const objects = objectCount(pack);
  const end = pack.length - TRAILER_LENGTH;
  if (objects > limits.objects) throw tooLarge(`${objects} objects, more than ${limits.objects}`);
  if (hash('sha1', pack.subarray(0, end), 'hex') !== pack.toString('hex', end)) throw corrupt('its checksum is wrong');
  const scan = new PackScan(pack.subarray(0, end), limits);
  for (let object = 0; object < objects; object += 1) scan.readObject();
  if (scan.position !== end) throw corrupt('bytes are left over');
}

function objectCount(pack: Buffer): number {
  if (pack.length < HEADER_LENGTH + TRAILER_LENGTH) throw corrupt('it is too short');
  const version = pack.readUInt32BE(4);
  if (pack.toString('latin1', 0, 4) !== 'PACK' || (version !== 2 && version !== 3))
    throw corrupt('its header is wrong');
  return pack.readUInt32BE(8);
}

class PackScan {
  readonly #pack: Buffer;
  readonly #limits: PackLimits;
  /** How many deltas stand between an object, by its offset, and a whole one. */
  readonly #chains = new Map<number, number>();
  #inflated = 0;
  position = HEADER_LENGTH;

  constructor(pack: Buffer, limits: PackLimits) {
    this.#pack = pack;
    this.#limits = limits;
  }

  readObject(): void {
    const start = this.position;
    const { type, size } = this.#readHeader();
    this.#chains.set(start, this.#readBase(type, start));
    const content = this.#inflate(size);
    if (type === OFFSET_DELTA || type === REFERENCE_DELTA) this.#addSize(deltaResultSize(content));
  }

  #readHeader(): { type: number; size: number } {
    let byte = this.#readByte();
    const type = (byte >> 4) & 7;
    if (type === 0 || type === 5) throw corrupt('an object has an unknown type');
    let size = byte & 15;
    for (let factor = 16; byte >= 128; factor *= 128) {
      byte = this.#readByte();
      size += (byte & 127) * factor;
    }
    return { type, size };
  }

  /** The length of the chain that the object ends. */
  #readBase(type: number, start: number): number {
    if (type === REFERENCE_DELTA) this.position += 20;
    if (type !== OFFSET_DELTA) return 0;
    let byte = this.#readByte();
    let distance = byte & 127;
    while (byte >= 128) {
      byte = this.#readByte();
      distance = (distance + 1) * 128 + (byte & 127);
    }
    const chain = this.#chains.get(start - distance);
    if (chain === undefined) throw corrupt('a delta has no base');
    if (chain >= LONGEST_CHAIN) throw tooLarge(`a chain of more than ${LONGEST_CHAIN} deltas`);
    return chain + 1;
  }

  #inflate(size: number): Buffer {
    this.#addSize(size);
    const rest = this.#pack.subarray(this.position);
    try {
      const { buffer, engine } = inflateWithInfo(rest, { info: true, maxOutputLength: Math.max(size, 1) });
      if (buffer.length !== size) throw corrupt('an object is not as long as it says');
      this.position += engine.bytesWritten;
      return buffer;
    } catch (error) {
      throw error instanceof GitError ? error : corrupt('an object cannot be inflated', error);
    }
  }

  #addSize(size: number): void {
    const { objectBytes, inflatedBytes } = this.#limits;
    this.#inflated += size;
    if (size > objectBytes) throw tooLarge(`an object of ${size} bytes, more than ${objectBytes}`);
    if (this.#inflated > inflatedBytes) throw tooLarge(`more than ${inflatedBytes} bytes, inflated`);
  }

  #readByte(): number {
    const byte = this.#pack[this.position];
    if (byte === undefined) throw corrupt('it ends too early');
    this.position += 1;
    return byte;
  }
}

/** The second of the two sizes at the start of a delta: of what it makes. */
function deltaResultSize(delta: Buffer): number {
  let position = 0;
  let size = 0;
  for (let number = 0; number < 2; number += 1) {
    size = 0;
    for (let factor = 1, byte = 128; byte >= 128; factor *= 128) {
      byte = delta[position] ?? 0;
      position += 1;
      size += (byte & 127) * factor;
    }
  }
  return size;
}

function corrupt(fault: string, cause?: unknown): GitError {
  return new GitError('Corrupt', `the pack from the Git server is damaged: ${fault}`, { cause });
}

function tooLarge(what: string): GitError {
  return new GitError('LimitExceeded', `the repository is too large: ${what}`);
}
