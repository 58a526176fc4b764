import { WorkStretch } from '../../kernel/index.ts';
import type { Clock, Json } from '../../kernel/index.ts';
import { parse } from '../answer.ts';
import { UnexpectedAnswerError } from '../api-errors.ts';
import { isFields } from '../fields.ts';
import type { Fields } from '../fields.ts';
import { ListSplitter } from './list-splitter.ts';

/** Options of {@link readItems}. */
export interface ItemReading {
  /** What is being read, the beginning of messages. */
  readonly what: string;
  readonly clock: Clock;
  readonly maxItemBytes: number;
  readonly maxListBytes: number;
}

/**
 * Reads a JSON object with a list `items` while it comes. Each item is parsed and handed on before the next one; the text is
 * never held as a whole, and the event loop is given back every few milliseconds.
 *
 * @returns the object, its list emptied. Until then nothing is certain: the text may yet turn out to be cut off.
 * @throws UnexpectedAnswerError when it is no JSON, too large or too deep, and what `take` throws
 */
export async function readItems(
  chunks: AsyncIterable<Buffer>,
  { what, clock, maxItemBytes, maxListBytes }: ItemReading,
  take: (item: Json) => void,
): Promise<Fields> {
  const splitter = new ListSplitter({ what, maxItemBytes });
  const stretch = new WorkStretch(clock);
  let size = 0;
  let count = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxListBytes)
      throw new UnexpectedAnswerError(`${what}: the answer is larger than ${maxListBytes} bytes`);
    for (const text of splitter.push(chunk)) {
      take(parse(text, { what }));
      count += 1;
      if (stretch.isOver()) await stretch.rest();
    }
  }
  const frame = splitter.end();
  // An empty list may come as null from an API server that is written in Go.
  const hasItems = isFields(frame) && (Array.isArray(frame['items']) || (frame['items'] === null && count === 0));
  if (!hasItems) throw new UnexpectedAnswerError(`${what}: the answer bears no items`);
  return frame;
}
