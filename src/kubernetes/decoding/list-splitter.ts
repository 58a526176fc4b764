import { parseExact } from '../../kernel/index.ts';
import type { Json } from '../../kernel/index.ts';
import { UnexpectedAnswerError } from '../api-errors.ts';
import { ByteCollector } from './byte-collector.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What a byte outside of strings means for the structure; all others are content. */
const CONTENT = 0;
const STRING = 1;
const OPEN_OBJECT = 2;
const OPEN_ARRAY = 3;
const CLOSE_OBJECT = 4;
const CLOSE_ARRAY = 5;
const COMMA = 6;
const MEANINGS = new Uint8Array(256);
MEANINGS[0x22] = STRING;
MEANINGS[0x7b] = OPEN_OBJECT;
MEANINGS[0x5b] = OPEN_ARRAY;
MEANINGS[0x7d] = CLOSE_OBJECT;
MEANINGS[0x5d] = CLOSE_ARRAY;
MEANINGS[0x2c] = COMMA;

/** Depth within the brackets of the items. */
const ITEMS_DEPTH = 2;
/** Go's JSON decoder goes no deeper, so nothing deeper can be stored in an API server. */
const MAX_DEPTH = 10_000;
/** For all that is not items: apiVersion, kind and metadata. */
const MAX_FRAME_BYTES = 64 * 1024;
const ONLY_SPACE = /^[ \t\r\n]*$/;

/** Options of {@link ListSplitter}. */
export interface ListSplitterOptions {
  /** What is being read, the beginning of messages. */
  readonly what: string;
  readonly maxItemBytes: number;
}

/**
 * Cuts the JSON text of a list into its items, however the bytes are chunked, without parsing it.
 *
 * It looks for strings, brackets and commas only. That is exact: a text is a JSON object if and only if all that is cut out
 * as an item is JSON, and so is the *frame*, which is the text with `[]` in place of the items. Whoever parses both accepts
 * and refuses what JSON.parse does on the whole; but a second array `items` is refused, and so is what nests too deeply.
 */
export class ListSplitter {
  readonly #what: string;
  readonly #item: ByteCollector;
  /** A member of the outermost object, up to its comma. */
  readonly #member: ByteCollector;
  #frame = '';
  #inString = false;
  /** The last byte was a backslash within a string. */
  #isEscaping = false;
  #depth = 0;
  #inItems = false;
  /** How many commas between items were seen; -1 before the items. */
  #commas = -1;
  /** The value of the current member has begun with a bracket. */
  #hasBracket = false;

  constructor({ what, maxItemBytes }: ListSplitterOptions) {
    this.#what = what;
    this.#item = new ByteCollector(maxItemBytes, `${what}: an item`);
    this.#member = new ByteCollector(MAX_FRAME_BYTES, `${what}: beside its items`);
  }

  /** The texts of the items that end in this chunk; they may be no JSON. @throws UnexpectedAnswerError */
  push(chunk: Buffer): string[] {
    const items: string[] = [];
    let start = 0;
    for (let at = this.#inString ? this.#endOfString(chunk, 0) + 1 : 0; at < chunk.length; at += 1) {
      const meaning = MEANINGS[chunk[at] as number] as number;
      if (meaning === CONTENT) continue;
      if (meaning === STRING) {
        this.#inString = true;
        at = this.#endOfString(chunk, at + 1);
      } else if (this.#inItems) {
        if (!this.#endsItem(meaning)) continue;
        this.#addItem(items, this.#item.take(chunk, start, at), meaning);
        start = meaning === COMMA ? at + 1 : at;
      } else if (this.#endsPart(meaning)) {
        this.#addToFrame(this.#member.take(chunk, start, at + 1), meaning);
        start = at + 1;
      }
    }
    (this.#inItems ? this.#item : this.#member).append(chunk, start, chunk.length);
    return items;
  }

  /** The frame, once all chunks were given. @throws UnexpectedAnswerError when the text is no JSON, or not whole */
  end(): Json {
    const text = this.#frame + this.#member.take(Buffer.alloc(0), 0, 0);
    try {
      return parseExact(text);
    } catch {
      throw this.#malformed('what is not JSON, or not all of it');
    }
  }

  /** Index of the quote that ends the string, or the chunk's length. */
  #endOfString(chunk: Buffer, from: number): number {
    if (from >= chunk.length) return chunk.length;
    let at = this.#isEscaping ? from + 1 : from;
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.#inString = false;
        this.#isEscaping = false;
        return at;
      }
      if (byte === BACKSLASH) at += 1;
    }
    this.#isEscaping = at > chunk.length;
    return chunk.length;
  }

  /** Whether an item, or the last of them, ends at this byte. */
  #endsItem(meaning: number): boolean {
    if (meaning === COMMA) return this.#depth === ITEMS_DEPTH;
    if (meaning <= OPEN_ARRAY) {
      this.#depth += 1;
      if (this.#depth - ITEMS_DEPTH > MAX_DEPTH) throw this.#malformed(`an item of more than ${MAX_DEPTH} levels`);
      return false;
    }
    if (this.#depth > ITEMS_DEPTH) {
      this.#depth -= 1;
      return false;
    }
    if (meaning === CLOSE_ARRAY) return true;
    throw this.#malformed('brackets that do not match');
  }

  #addItem(items: string[], text: string, end: number): void {
    const isNone = end === CLOSE_ARRAY && this.#commas === 0 && ONLY_SPACE.test(text);
    if (!isNone) items.push(text);
    if (end === COMMA) this.#commas += 1;
    else {
      this.#inItems = false;
      this.#depth -= 1;
    }
  }

  /** Whether the frame can be cut after this byte: at the bounds of the outermost members, and where an array begins. */
  #endsPart(meaning: number): boolean {
    if (meaning === COMMA) {
      if (this.#depth === 1) this.#hasBracket = false;
      return this.#depth === 1;
    }
    if (meaning > OPEN_ARRAY) {
      this.#depth -= 1;
      return false;
    }
    this.#depth += 1;
    if (this.#depth === 1) return true;
    if (this.#depth > ITEMS_DEPTH || this.#hasBracket) return false;
    this.#hasBracket = true;
    return meaning === OPEN_ARRAY;
  }

  #addToFrame(part: string, end: number): void {
    this.#frame += part;
    if (this.#frame.length > MAX_FRAME_BYTES)
      throw this.#malformed(`more than ${MAX_FRAME_BYTES} bytes beside the items`);
    this.#inItems = end === OPEN_ARRAY && this.#depth === ITEMS_DEPTH && isKeyOfItems(part);
    if (!this.#inItems) return;
    if (this.#commas >= 0) throw this.#malformed('items twice');
    this.#commas = 0;
  }

  #malformed(what: string): UnexpectedAnswerError {
    return new UnexpectedAnswerError(`${this.#what}: the server sent ${what}`);
  }
}

/** Whether a part of the outermost object is `"items":[`, in whatever way JSON can say that. */
function isKeyOfItems(part: string): boolean {
  try {
    return Object.hasOwn(JSON.parse(`{${part}]}`) as object, 'items');
  } catch {
    return false;
  }
}
