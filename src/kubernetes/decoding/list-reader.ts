import { UnexpectedAnswerError } from '../api-errors.ts';
import type { ListPage } from '../client-options.ts';
import { isFields } from '../fields.ts';
import type { Fields } from '../fields.ts';
import { readItems } from './list-stream.ts';
import type { ItemReading } from './list-stream.ts';
import type { ObjectDecoder } from './object-decoder.ts';

/**
 * Reads the list of a kind while it comes. What is answered is complete: of a list that is cut off, malformed or of another
 * kind nothing is.
 *
 * @throws UnexpectedAnswerError, and what the transform throws
 */
export async function readList(
  chunks: AsyncIterable<Buffer>,
  decoder: ObjectDecoder,
  reading: ItemReading,
): Promise<ListPage> {
  const { what } = reading;
  const items: ListPage['items'] = [];
  const frame = await readItems(chunks, reading, (item) => items.push(decoder.item(item, what)));
  if (!isListOf(decoder, frame)) throw new UnexpectedAnswerError(`${what}: the answer is no ${decoder.gvk.kind}List`);
  return { items, ...readMetadata(frame, what) };
}

/**
 * A list is called by its kind and "List". Only a custom resource may have another name for it (`spec.names.listKind`);
 * its items say what they are, unlike those of built-in kinds. Groups without a dot cannot hold custom resources.
 */
function isListOf(decoder: ObjectDecoder, frame: Fields): boolean {
  if (decoder.isOfKind(frame, 'List')) return true;
  const { group, kind } = decoder.gvk;
  return group.includes('.') && !decoder.hasUnnamedItems && decoder.isOfKind({ ...frame, kind });
}

function readMetadata({ metadata }: Fields, what: string): Omit<ListPage, 'items'> {
  const resourceVersion = isFields(metadata) ? metadata['resourceVersion'] : undefined;
  if (!isFields(metadata) || typeof resourceVersion !== 'string' || resourceVersion === '') {
    throw new UnexpectedAnswerError(`${what}: the answer bears no resourceVersion`);
  }
  const next = metadata['continue'];
  return { resourceVersion, ...(typeof next === 'string' && next !== '' && { continue: next }) };
}
