import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { KubernetesObject } from '../kernel/index.ts';
import type { JsonPatchOperation } from './json-patch.ts';
import { applyOverrides, OverrideError } from './overrides.ts';

function object(fields: object): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' }, ...fields };
}

function patched(fields: object, ...patches: JsonPatchOperation[]): unknown {
  const { apiVersion: _, kind: __, metadata: ___, ...rest } = applyOverrides(object(fields), [{ name: 'x', patches }]);
  return rest;
}

describe('an operation of RFC 6902 is applied', () => {
  test.each<[string, object, JsonPatchOperation[], unknown]>([
    ['add a field', { spec: {} }, [{ op: 'add', path: '/spec/a', value: 1 }], { spec: { a: 1 } }],
    ['add over a field', { spec: { a: 0 } }, [{ op: 'add', path: '/spec/a', value: 1 }], { spec: { a: 1 } }],
    ['add an item', { l: ['a', 'c'] }, [{ op: 'add', path: '/l/1', value: 'b' }], { l: ['a', 'b', 'c'] }],
    ['add an item at the end', { l: ['a'] }, [{ op: 'add', path: '/l/-', value: 'b' }], { l: ['a', 'b'] }],
    ['add an item after the last', { l: ['a'] }, [{ op: 'add', path: '/l/1', value: 'b' }], { l: ['a', 'b'] }],
    ['add a null', { a: 1 }, [{ op: 'add', path: '/b', value: null }], { a: 1, b: null }],
    ['remove a field', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    ['remove an item', { l: [1, 2, 3] }, [{ op: 'remove', path: '/l/0' }], { l: [2, 3] }],
    ['remove a null', { a: null }, [{ op: 'remove', path: '/a' }], {}],
    ['replace', { a: { b: [1] } }, [{ op: 'replace', path: '/a/b/0', value: { c: 2 } }], { a: { b: [{ c: 2 }] } }],
    ['move a field', { a: 1, b: {} }, [{ op: 'move', from: '/a', path: '/b/c' }], { b: { c: 1 } }],
    ['move an item', { l: [1, 2, 3] }, [{ op: 'move', from: '/l/0', path: '/l/2' }], { l: [2, 3, 1] }],
    ['move to the same place', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
    ['copy', { a: { b: 1 } }, [{ op: 'copy', from: '/a', path: '/c' }], { a: { b: 1 }, c: { b: 1 } }],
    [
      'change a copy alone',
      { a: { b: 1 } },
      [
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'replace', path: '/c/b', value: 2 },
      ],
      { a: { b: 1 }, c: { b: 2 } },
    ],
    ['test a number', { a: 1 }, [{ op: 'test', path: '/a', value: 1.0 }], { a: 1 }],
    [
      'test with fields in another order',
      { a: { b: 1, c: [2n ** 60n] } },
      [{ op: 'test', path: '/a', value: { c: [2n ** 60n], b: 1 } }],
      { a: { b: 1, c: [2n ** 60n] } },
    ],
    [
      'escaped names',
      { 'a/b': { 'm~n': 0 } },
      [{ op: 'replace', path: '/a~1b/m~0n', value: 1 }],
      { 'a/b': { 'm~n': 1 } },
    ],
    ['the escape of an escape', { '~1': 0 }, [{ op: 'replace', path: '/~01', value: 1 }], { '~1': 1 }],
    ['an empty name', { '': 0 }, [{ op: 'replace', path: '/', value: 1 }], { '': 1 }],
    [
      'several in order',
      { l: [] },
      [
        { op: 'add', path: '/l/-', value: 1 },
        { op: 'add', path: '/l/0', value: 0 },
      ],
      { l: [0, 1] },
    ],
  ])('%s', (_what, fields, patches, result) => {
    expect(patched(fields, ...patches)).toEqual(result);
  });
});

describe('an operation that does not fit says which and where', () => {
  test.each<[string, object, JsonPatchOperation, RegExp]>([
    [
      'a parent that is not there',
      {},
      { op: 'add', path: '/spec/a', value: 1 },
      /the object at the root has no field "spec"/,
    ],
    [
      'a parent that is a value',
      { a: 1 },
      { op: 'add', path: '/a/b', value: 1 },
      /cannot|nothing can be added to the value at \/a/,
    ],
    ['a list without such an item', { l: [1] }, { op: 'add', path: '/l/2', value: 1 }, /1 items/],
    ['an index with a leading zero', { l: [1, 2] }, { op: 'replace', path: '/l/01', value: 1 }, /no item "01"/],
    ['an index that is none', { l: [1, 2] }, { op: 'add', path: '/l/x', value: 1 }, /"x"/],
    ['the end of a list, to be replaced', { l: [1] }, { op: 'replace', path: '/l/-', value: 1 }, /no item "-"/],
    ['a field to remove that is not there', {}, { op: 'remove', path: '/a' }, /no field "a"/],
    ['a field to replace that is not there', {}, { op: 'replace', path: '/a', value: 1 }, /no field "a"/],
    ['a field that all objects inherit', {}, { op: 'remove', path: '/constructor' }, /no field "constructor"/],
    ['a field behind a prototype', {}, { op: 'add', path: '/__proto__/polluted', value: 1 }, /no field "__proto__"/],
    ['a move into itself', { a: { b: {} } }, { op: 'move', from: '/a', path: '/a/b' }, /into itself/],
    ['a move from nowhere', {}, { op: 'move', from: '/a', path: '/b' }, /no field "a"/],
    ['a copy without a source', {}, { op: 'copy', path: '/b' }, /no "from"/],
    ['no value', {}, { op: 'add', path: '/b' }, /no value/],
    ['a test that fails', { a: 'secret' }, { op: 'test', path: '/a', value: 'other' }, /the value there is another/],
    ['a test of another type', { a: 1 }, { op: 'test', path: '/a', value: '1' }, /the value there is another/],
    ['no pointer', {}, { op: 'add', path: 'a', value: 1 }, /not a JSON pointer/],
    ['a wrong escape', {}, { op: 'add', path: '/a~2', value: 1 }, /not a JSON pointer/],
    ['the whole object removed', {}, { op: 'remove', path: '' }, /cannot be removed/],
    ['the whole object made a text', {}, { op: 'replace', path: '', value: 'x' }, /not an object/],
  ])('%s', (_what, fields, patch, message) => {
    const fine: JsonPatchOperation = { op: 'add', path: '/fine', value: 1 };
    const apply = () => applyOverrides(object(fields), [{ name: 'eu', patches: [fine, patch] }]);
    expect(apply).toThrow(OverrideError);
    expect(apply).toThrow(message);
    expect(apply).toThrow(expect.objectContaining({ override: 'eu', operation: 1, path: patch.path }) as Error);
    expect(apply).not.toThrow(/secret/);
  });
});

test('a field named __proto__ is set like any other', () => {
  const result = applyOverrides(object({ a: {} }), [
    { name: 'x', patches: [{ op: 'add', path: '/a/__proto__', value: { b: 1 } }] },
  ]);
  expect(Object.keys(result['a'] as object)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(result['a'])).toBe(Object.prototype);
});

test('overrides are applied in their order', () => {
  const replace = (value: number): JsonPatchOperation => ({ op: 'replace', path: '/n', value });
  const overrides = [
    { name: 'first', patches: [replace(1)] },
    { name: 'second', patches: [replace(2)] },
  ];
  expect(applyOverrides(object({ n: 0 }), overrides)).toMatchObject({ n: 2 });
});

test('the object that is given never changes, whatever is done to it', () => {
  const name = fc.constantFrom('a', 'b', '0', '1', '-', '__proto__');
  const pointer = fc.array(name, { maxLength: 4 }).map((names) => names.map((part) => `/${part}`).join(''));
  const value = fc.jsonValue({ maxDepth: 1 });
  const operation = fc.record({
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
    path: pointer,
    from: pointer,
    value,
  }) as fc.Arbitrary<JsonPatchOperation>;
  const fields = fc.dictionary(name, fc.dictionary(name, fc.oneof(fc.array(value), value)));
  fc.assert(
    fc.property(fields, fc.array(operation, { maxLength: 6 }), (given, patches) => {
      const before = object(given);
      const copy = structuredClone(before);
      try {
        applyOverrides(before, [{ name: 'x', patches }]);
      } catch (error) {
        expect(error).toBeInstanceOf(OverrideError);
      }
      expect(before).toEqual(copy);
    }),
  );
});
