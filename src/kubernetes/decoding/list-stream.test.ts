import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { array, assert, asyncProperty, constantFrom, jsonValue, nat, oneof, record, string, tuple } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExact, systemClock } from '../../kernel/index.ts';
import type { Json } from '../../kernel/index.ts';
import { UnexpectedAnswerError } from '../api-errors.ts';
import { readItems } from './list-stream.ts';

const reading = { what: 'list', clock: systemClock, maxItemBytes: 1_000_000, maxListBytes: 10_000_000 };

/** The whole that was read, put together again. */
async function read(chunks: readonly Buffer[], limits = {}): Promise<Json> {
  const items: Json[] = [];
  const stream = async function* (): AsyncGenerator<Buffer, void> {
    yield* chunks;
  };
  const frame = await readItems(stream(), { ...reading, ...limits }, (item) => items.push(item));
  return frame['items'] === null ? { ...frame } : { ...frame, items };
}

/** A text cut at places of the bytes, within characters too. */
function cut(text: string, places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const places = array(nat(), { maxLength: 20 });
const value = jsonValue({ depthSize: 'medium', stringUnit: 'binary' });
const member = tuple(oneof(constantFrom('metadata', 'kind', '__proto__', 'item', ''), string()), value);

/** The text of an object with a list `items` somewhere between other members, and space where JSON allows it. */
const listText = record({
  before: array(member, { maxLength: 4 }),
  items: array(value, { maxLength: 8 }),
  after: array(member, { maxLength: 4 }),
  space: constantFrom('', ' ', '\n\t', '\r\n'),
}).map(({ before, items, after, space }) => {
  const texts = (members: typeof before): string[] =>
    members
      .filter(([name]) => name !== 'items')
      .map(([name, content]) => `${JSON.stringify(name)}${space}:${JSON.stringify(content, undefined, space)}`);
  const list = `"items"${space}:${space}[${space}${items.map((item) => JSON.stringify(item, undefined, space)).join(`${space},${space}`)}${space}]`;
  return `${space}{${space}${[...texts(before), list, ...texts(after)].join(`${space},${space}`)}${space}}${space}`;
});

describe('whatever the text and wherever it is cut', () => {
  test('it is read as JSON.parse reads it', async () => {
    await assert(
      asyncProperty(listText, places, async (text, at) => {
        expect(await read(cut(text, at))).toEqual(parseExact(text));
      }),
      { numRuns: 200 },
    );
  });

  test('what JSON.parse refuses is refused, and what it accepts is read the same, if it has items', async () => {
    const damage = record({
      at: nat(),
      remove: nat({ max: 2 }),
      insert: constantFrom('', '{', '}', '[', ']', ',', ':', '"', '\\', ' ', '0', 'n'),
    });
    await assert(
      asyncProperty(listText, damage, places, async (text, { at, remove, insert }, cuts) => {
        const start = at % (text.length + 1);
        const damaged = text.slice(0, start) + insert + text.slice(start + remove);
        const expected = tryParse(damaged);
        const found = await read(cut(damaged, cuts)).catch((error: unknown) => error);
        const hasItems = Array.isArray((expected as { items?: unknown } | null | undefined)?.items);
        if (hasItems) expect(found).toEqual(expected);
        else expect(found).toBeInstanceOf(UnexpectedAnswerError);
      }),
      { numRuns: 400 },
    );
  });

  test('one that ends too early is refused', async () => {
    const text = '{"kind":"List","items":[{"a":"x]\\""},{"b":[1,2]}],"metadata":{"resourceVersion":"1"}}';
    for (let end = 0; end < text.length; end += 1) {
      await expect(read([Buffer.from(text.slice(0, end))])).rejects.toThrow(UnexpectedAnswerError);
    }
  });
});

/** What a text holds; `undefined` when it is no JSON. Half a character, which damage leaves, is what its bytes decode to. */
function tryParse(text: string): unknown {
  try {
    return parseExact(Buffer.from(text).toString());
  } catch {
    return undefined;
  }
}

describe('reads', () => {
  test.each<[string, string, unknown]>([
    [
      'a list in a nested field as what it is',
      '{"metadata":{"items":[1]},"items":[2]}',
      { metadata: { items: [1] }, items: [2] },
    ],
    [
      'another array of the outermost object',
      '{"others":[{"items":[1]}],"items":[]}',
      { others: [{ items: [1] }], items: [] },
    ],
    ['the key however it is escaped', '{"it\\u0065ms":[1,2]}', { items: [1, 2] }],
    ['an empty list of Go', '{"items":null}', { items: null }],
    ['space in an empty list', '{"items":[ \n]}', { items: [] }],
    ['the last of two fields of one name', '{"items":[{"a":1,"a":2}],"x":1,"x":2}', { items: [{ a: 2 }], x: 2 }],
    ['integers beyond 2^53', '{"items":[{"a":9007199254740993}]}', { items: [{ a: 9007199254740993n }] }],
    ['half a surrogate pair, escaped', '{"items":["\\ud83d"]}', { items: ['\ud83d'] }],
    ['NUL, escaped', '{"items":["\\u0000"]}', { items: ['\0'] }],
    ['10,000 levels', `{"items":[${'['.repeat(10_000)}${']'.repeat(10_000)}]}`, expect.anything()],
  ])('%s', async (_behaviour, text, expected) => {
    expect(await read([Buffer.from(text)])).toEqual(expected);
  });

  test('a field named __proto__ without touching any prototype', async () => {
    const found = (await read([Buffer.from('{"items":[{"__proto__":{"polluted":1}}]}')])) as { items: object[] };
    expect(Object.keys(found.items[0] ?? {})).toEqual(['__proto__']);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe('refuses', () => {
  test.each([
    ['nothing', ''],
    ['no object', '[{"items":[]}]'],
    ['plain text', '404 page not found'],
    ['no items', '{"kind":"List"}'],
    ['items that are no list', '{"items":{"a":1}}'],
    ['items that are a text', '{"items":"[]"}'],
    ['items twice', '{"items":[1],"items":[2]}'],
    ['items taken back', '{"items":[1],"items":null}'],
    ['two documents', '{"items":[1]}{"items":[2]}'],
    ['something after the end', '{"items":[1]},'],
    ['a comma too many', '{"items":[1,]}'],
    ['a comma before', '{"items":[,1]}'],
    ['only a comma', '{"items":[,]}'],
    ['space that JSON does not know', '{"items":[\u00a0]}'],
    ['brackets of another kind', '{"items":[{"a":1]}}'],
    ['an object’s end as the list’s', '{"items":[1}}'],
    ['a number that is none', '{"items":[1e]}'],
    ['NUL in a text', '{"items":["\0"]}'],
    ['NUL between', '{"items":[1\0]}'],
    ['a byte order mark', '\ufeff{"items":[]}'],
    ['more than 10,000 levels', `{"items":[${'['.repeat(10_001)}${']'.repeat(10_001)}]}`],
    ['a bottomless item', `{"items":[${'{"a":'.repeat(100_000)}`],
    ['a text that never ends', `{"items":["${'x'.repeat(1000)}`],
    ['a bottomless frame', '['.repeat(10_000)],
    ['brackets that only close', '}]'.repeat(1000)],
  ])('%s', async (_behaviour, text) => {
    await expect(read([Buffer.from(text)])).rejects.toThrow(UnexpectedAnswerError);
  });

  test.each([
    ['an item', `{"items":[{"a":"${'x'.repeat(100)}"}]}`, { maxItemBytes: 100 }],
    ['the whole', `{"items":[${'1,'.repeat(100)}1]}`, { maxListBytes: 100 }],
    ['all beside the items', `{"a":"${'x'.repeat(64 * 1024)}","items":[]}`, {}],
    ['all beside the items, in many parts', `{${'"a":"xxxxxxxxxxxxxxxxx",'.repeat(5000)}"items":[]}`, {}],
  ])('%s beyond its limit, in one chunk or many', async (_behaviour, text, limits) => {
    await expect(read([Buffer.from(text)], limits)).rejects.toThrow(UnexpectedAnswerError);
    await expect(
      read(
        cut(
          text,
          Array.from({ length: 500 }, (_, index) => index * 7),
        ),
        limits,
      ),
    ).rejects.toThrow(UnexpectedAnswerError);
  });
});

test('an item sent byte by byte takes no more memory than its size', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const size = 100_000;
  const bytes = async function* (): AsyncGenerator<Buffer, void> {
    yield Buffer.from('{"items":["');
    for (let index = 0; index < size; index += 1) yield Buffer.from('x');
    yield Buffer.from('"]}');
  };
  let largest = 0;
  const watched = async function* (): AsyncGenerator<Buffer, void> {
    let count = 0;
    for await (const chunk of bytes()) {
      count += 1;
      if (count % 10_000 === 0) {
        collectGarbage();
        largest = Math.max(largest, process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers);
      }
      yield chunk;
    }
  };
  collectGarbage();
  const before = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  await readItems(watched(), reading, () => undefined);
  expect(largest - before).toBeLessThan(20 * size);
});

test('the event loop is given back while a long list is read', async () => {
  const item = JSON.stringify({ metadata: { name: 'a' }, data: { key: 'x'.repeat(2000) } });
  const text = Buffer.from(`{"items":[${Array.from({ length: 8000 }, () => item).join(',')}]}`);
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await read([text], { maxListBytes: text.length });
  isOver = true;
  expect(turns).toBeGreaterThan(3);
});
