import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { assert, jsonValue, property } from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../kernel/index.ts';
import { StringPool } from './string-pool.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that a thousand objects of five labels take. */
function heapOf(pool: StringPool | undefined): number {
  const text = JSON.stringify(
    Object.fromEntries([1, 2, 3, 4, 5].map((label) => [`label${label}`, `${'x'.repeat(60)}-${label}`])),
  );
  const kept: Json[] = [];
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 1000; index += 1) {
    const object = JSON.parse(text) as Json;
    pool?.share(object);
    kept.push(object);
  }
  collectGarbage();
  const taken = process.memoryUsage().heapUsed - before;
  expect(kept).toHaveLength(1000);
  return taken;
}

test('texts that repeat are held once', () => {
  heapOf(new StringPool());
  expect(heapOf(new StringPool())).toBeLessThan(heapOf(undefined) / 2);
});

test('values stay what they were, whatever else was shared before', () => {
  const pool = new StringPool();
  assert(
    property(jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const copy = JSON.parse(text) as Json;
      pool.share(copy);
      expect(JSON.stringify(copy)).toBe(text);
    }),
  );
});

test('texts that differ in a character that the hash does not look at stay apart', () => {
  const pool = new StringPool();
  for (let index = 1; index < 30; index += 1) {
    const text = `${'a'.repeat(index)}b${'a'.repeat(30 - index)}`;
    const value = { text };
    pool.share(value);
    expect(value).toEqual({ text });
  }
});

test('a field named __proto__ and a value of any depth are nothing special', () => {
  const value = JSON.parse(`{"__proto__":"a text long enough","a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`) as Json;
  new StringPool().share(value);
  expect(Object.keys(value as object)).toEqual(['__proto__', 'a']);
});
