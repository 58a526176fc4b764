import { array, assert, constantFrom, dictionary, integer, oneof, property, record, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPath, isUnder, resolvePath, valueAt, withValue, withoutPath } from './field-path.ts';
import type { FieldPath } from './field-path.ts';

const pod = {
  metadata: { labels: { 'app.kubernetes.io/name': 'web', app: 'x' }, finalizers: ['example.com/a', 'b'] },
  spec: {
    containers: [
      { name: 'app', image: 'web:1', ports: [{ containerPort: 53, protocol: 'UDP' }, { containerPort: 53 }] },
      { name: 'side.car[0]', image: 'side:1' },
    ],
  },
};

describe('a path in the notation of API servers', () => {
  it.each<[string, unknown]>([
    ['spec.containers[name="app"].image', 'web:1'],
    ['.spec.containers[name="app"].image', 'web:1'],
    ['.spec.containers[name="side.car[0]"].image', 'side:1'],
    ['.spec.containers[name="app"].ports[containerPort=53,protocol="UDP"].protocol', 'UDP'],
    ['.spec.containers[name="app"].ports[containerPort=53,protocol="TCP"].containerPort', 53],
    ['.spec.containers[1].name', 'side.car[0]'],
    ['.metadata.labels.app.kubernetes.io/name', 'web'],
    ['.metadata.labels.app', 'x'],
    ['.metadata.finalizers[="example.com/a"]', 'example.com/a'],
  ])('%s is found', (text, value) => {
    const path = resolvePath(pod, text);
    expect(path && valueAt(pod, path)).toBe(value);
  });

  it.each([
    'spec.containers[name="other"].image',
    'spec.container',
    'spec.containers.image',
    'spec.containers[name="app"',
    'spec.containers[7]',
    'metadata.labels.app.kubernetes',
    '',
  ])('%j is not found, or is the object itself', (text) => {
    const path = resolvePath(pod, text);
    expect(path === undefined || path.length === 0).toBe(true);
  });

  it('is printed as it is read, for whatever is there', () => {
    const leaf = oneof(string(), integer());
    const name = constantFrom('a', 'b.c', 'd/e.f');
    const shape = dictionary(name, oneof(leaf, array(record({ name: string({ minLength: 1 }), value: leaf }))));
    assert(
      property(shape, (object) => {
        for (const path of pathsOf(object)) {
          const text = formatPath(path);
          const found = resolvePath(object, text);
          expect(found && formatPath(found), text).toBe(text);
        }
      }),
    );
  });
});

function pathsOf(object: Readonly<Record<string, unknown>>): FieldPath[] {
  return Object.entries(object).flatMap(([field, value]) => {
    if (!Array.isArray(value)) return [[{ field }]];
    return (value as { name: string }[]).map(({ name }) => [{ field }, { key: { name } }, { field: 'value' }]);
  });
}

const image = resolvePath(pod, 'spec.containers[name="app"].image') as FieldPath;

describe('taking a field out', () => {
  it('leaves the keys of its list item, and the object as it was', () => {
    const without = withoutPath(pod, image);
    expect(without.spec.containers[0]).toEqual({ name: 'app', ports: pod.spec.containers[0]?.ports });
    expect(pod.spec.containers[0]?.image).toBe('web:1');
  });

  it('takes parents that become empty along, and none that were empty', () => {
    expect(
      withoutPath({ spec: { a: { b: 1 } }, empty: {} }, resolvePath({ spec: { a: { b: 1 } } }, 'spec.a.b') ?? []),
    ).toEqual({
      empty: {},
    });
  });

  it('does nothing where it is not there', () => {
    expect(withoutPath({ a: 1 }, image)).toEqual({ a: 1 });
  });
});

it('a field gets another value where it is', () => {
  expect(withValue(pod, image, 'web:2').spec.containers.map((container) => container.image)).toEqual([
    'web:2',
    'side:1',
  ]);
});

describe('a field is under another', () => {
  const containers = resolvePath(pod, 'spec.containers') as FieldPath;
  const port: FieldPath = [
    ...containers,
    { key: { name: 'app' } },
    { field: 'ports' },
    { key: { containerPort: 53, protocol: 'TCP' } },
  ];

  it.each<[string, FieldPath, FieldPath, boolean]>([
    ['that holds it', image, containers, true],
    ['that is itself', image, image, true],
    ['whose key leaves out a default', port, [...port.slice(0, -1), { key: { containerPort: 53 } }], true],
    ['not of another key', port, [...port.slice(0, -1), { key: { containerPort: 54 } }], false],
    ['not that is inside of it', containers, image, false],
  ])('%s', (_, path, ancestor, expected) => {
    expect(isUnder(path, ancestor)).toBe(expected);
  });
});
