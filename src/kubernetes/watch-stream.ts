import type { GroupVersionKind } from '../kernel/index.ts';
import { isFields, isObjectOf, parse } from './answer.ts';
import type { Fields } from './answer.ts';
import { UnexpectedAnswerError } from './api-errors.ts';
import { errorFromFailure } from './api-status.ts';
import type { WatchEvent } from './watch-event.ts';

const NEWLINE = 0x0a;
const TYPES = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'] as const;

/** Cuts a byte stream at its newlines. An unfinished last line is dropped: the stream was cut in the middle of it. */
export async function* readLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string, void> {
  let pending: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      assertSize(size + end - start, maxBytes);
      pending.push(chunk.subarray(start, end));
      yield Buffer.concat(pending).toString('utf8');
      pending = [];
      size = 0;
      start = end + 1;
    }
    size += chunk.length - start;
    assertSize(size, maxBytes);
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
}

/**
 * The event that one line of a watch holds.
 *
 * @throws ApiError of an ERROR event's class (ExpiredError above all); UnexpectedAnswerError when the line is no event
 * of this kind, after which nothing that the stream says can be relied on
 */
export function readWatchEvent(line: string, gvk: GroupVersionKind): WatchEvent {
  const context = { what: `watch ${gvk.kind}`, gvk };
  const event = parse(line, context);
  if (!isFields(event) || !isFields(event['object'])) throw malformed(gvk, 'a line that is no event');
  const object = event['object'];
  if (event['type'] === 'ERROR') throw errorOf(object, gvk);
  const type = TYPES.find((known) => known === event['type']);
  if (type === undefined) throw malformed(gvk, 'an event of unknown type');
  if (type === 'BOOKMARK' ? !isBookmarkOf(gvk, object) : !isObjectOf(gvk, object)) {
    throw malformed(gvk, 'an event of another kind');
  }
  return { type, object: object as Fields & WatchEvent['object'] };
}

function isBookmarkOf(gvk: GroupVersionKind, object: Fields): boolean {
  const metadata = object['metadata'];
  return object['kind'] === gvk.kind && isFields(metadata) && typeof metadata['resourceVersion'] === 'string';
}

function errorOf(status: Fields, gvk: GroupVersionKind): Error {
  const { code } = status;
  if (typeof code !== 'number') return malformed(gvk, 'an ERROR event without a code');
  return errorFromFailure({ code, status, text: '' }, { what: `watch ${gvk.kind}` });
}

function malformed(gvk: GroupVersionKind, what: string): UnexpectedAnswerError {
  return new UnexpectedAnswerError(`watch ${gvk.kind}: the server sent ${what}`);
}

function assertSize(size: number, maxBytes: number): void {
  if (size > maxBytes) throw new UnexpectedAnswerError(`watch: the server sent a line of more than ${maxBytes} bytes`);
}
