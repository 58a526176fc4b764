import { WorkStretch } from '../../kernel/index.ts';
import type { Clock, GroupVersionKind } from '../../kernel/index.ts';
import { parse } from '../answer.ts';
import { UnexpectedAnswerError } from '../api-errors.ts';
import { errorFromFailure } from '../api-status.ts';
import { isFields } from '../fields.ts';
import type { Fields } from '../fields.ts';
import { ByteCollector } from './byte-collector.ts';
import type { ObjectDecoder } from './object-decoder.ts';
import type { WatchEvent } from '../watch-event.ts';

const NEWLINE = 0x0a;
const TYPES = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'] as const;

/** Options of {@link readWatch}. */
export interface WatchReading {
  readonly clock: Clock;
  /** The most that one event may take. */
  readonly maxBytes: number;
  /** Ends the events at once, those too that have been received already. */
  readonly signal: AbortSignal;
}

/**
 * The events that a stream bears, as they come. The event loop is given back every few milliseconds, however many there are.
 *
 * @throws ApiError of an ERROR event's class; UnexpectedAnswerError when a line is no event, after which nothing that the
 * stream says can be relied on; what the transform throws
 */
export async function* readWatch(
  chunks: AsyncIterable<Buffer>,
  decoder: ObjectDecoder,
  { clock, maxBytes, signal }: WatchReading,
): AsyncGenerator<WatchEvent, void> {
  const stretch = new WorkStretch(clock);
  for await (const line of readLines(chunks, new ByteCollector(maxBytes, `watch ${decoder.gvk.kind}: a line`))) {
    if (signal.aborted) return;
    if (line !== '') yield readWatchEvent(line, decoder);
    if (stretch.isOver()) await stretch.rest();
  }
}

/** Cuts a byte stream at its newlines. An unfinished last line is dropped: the stream was cut in the middle of it. */
export async function* readLines(chunks: AsyncIterable<Buffer>, line: ByteCollector): AsyncGenerator<string, void> {
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield line.take(chunk, start, end);
      start = end + 1;
    }
    line.append(chunk, start, chunk.length);
  }
}

/** The event that one line of a watch holds. @throws ApiError as {@link readWatch} does */
export function readWatchEvent(line: string, decoder: ObjectDecoder): WatchEvent {
  const { gvk } = decoder;
  const what = `watch ${gvk.kind}`;
  const event = parse(line, { what });
  if (!isFields(event) || !isFields(event['object'])) throw malformed(what, 'a line that is no event');
  const { object } = event;
  if (event['type'] === 'ERROR') throw errorOf(object, gvk);
  const type = TYPES.find((known) => known === event['type']);
  if (type === undefined) throw malformed(what, 'an event of unknown type');
  return { type, object: type === 'BOOKMARK' ? decoder.bookmark(object, what) : decoder.object(object, what) };
}

function errorOf(status: Fields, gvk: GroupVersionKind): Error {
  const what = `watch ${gvk.kind}`;
  const { code } = status;
  if (typeof code !== 'number') return malformed(what, 'an ERROR event without a code');
  return errorFromFailure({ code, status, text: '', isEvent: true }, { what, gvk });
}

function malformed(what: string, problem: string): UnexpectedAnswerError {
  return new UnexpectedAnswerError(`${what}: the server sent ${problem}`);
}
