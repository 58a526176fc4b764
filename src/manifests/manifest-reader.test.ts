import { describe, expect, test } from 'vitest';

import type { KubernetesObject, Snapshot } from '../kernel/index.ts';
import type { Validate } from './file-reader.ts';
import { ManifestReader } from './manifest-reader.ts';
import type { ManifestReading } from './manifest.ts';

function snapshot(files: Readonly<Record<string, string>>): Snapshot {
  const entries = Object.entries(files).map(([path, content]) => ({ path, oid: `oid of ${content}`, content }));
  return { revision: 'main@sha1:0', files: entries };
}

function read(files: Readonly<Record<string, string>>, validate: Validate = () => []): ManifestReading {
  return new ManifestReader({ validate }).read(snapshot(files), { defaultNamespace: 'shop' });
}

function objects(reading: ManifestReading): KubernetesObject[] {
  if ('errors' in reading) throw new Error(JSON.stringify(reading.errors));
  return reading.manifests.map(({ object }) => object);
}

/** "file:line:column: message" of each mistake. */
function mistakes(reading: ManifestReading): string[] {
  if (!('errors' in reading)) return [];
  return reading.errors.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);
}

function configMap(name: string, more = ''): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}`;
}

describe('every object of a revision is read', () => {
  test('with the place it was written at', () => {
    const reading = read({
      'a.yaml': `# comment\n\n${configMap('a')}---\n${configMap('b')}`,
      'c.json': `\n  {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`,
    });
    expect(reading).toMatchObject({
      manifests: [
        { object: { metadata: { name: 'a' } }, source: { file: 'a.yaml', line: 3, column: 1, document: 1 } },
        { object: { metadata: { name: 'b' } }, source: { file: 'a.yaml', line: 8, column: 1, document: 2 } },
        { object: { metadata: { name: 'c' } }, source: { file: 'c.json', line: 2, column: 3, document: 1 } },
      ],
    });
  });

  test('out of lists, each item at its own place', () => {
    const list = `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- ${JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } })}\n`;
    const reading = read({ 'list.yaml': list });
    expect(reading).toMatchObject({
      manifests: [
        { object: { metadata: { name: 'a' } }, source: { line: 4, column: 3 } },
        { object: { metadata: { name: 'b' } }, source: { line: 5, column: 3 } },
      ],
    });
  });

  test('without what only a server sets', () => {
    const [object] = objects(
      read({
        'a.yaml': configMap(
          'a',
          [
            '  namespace: null',
            '  uid: 1234',
            '  resourceVersion: "7"',
            '  creationTimestamp: null',
            '  generation: 3',
            '  managedFields: []',
            '  annotations:',
            '    kubectl.kubernetes.io/last-applied-configuration: "{}"',
            '    keep: me',
            'data: {status: kept}',
            'status: {phase: Running}',
            '',
          ].join('\n'),
        ),
      }),
    );
    expect(object).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', annotations: { keep: 'me' } },
      data: { status: 'kept' },
    });
  });

  test('from files that may hold manifests, in folders that are not hidden', () => {
    expect(
      objects(read({ 'a.yml': configMap('a'), 'README.md': '# hello', '.travis.yml': 'language: c' })),
    ).toHaveLength(1);
  });
});

describe('a mistake says where it is', () => {
  test.each<[string, string, string]>([
    ['a syntax error', configMap('a', 'data: {a: 1\n'), 'a.yaml:6:1: '],
    ['an object without a kind', 'apiVersion: v1\nmetadata: {name: a}\n', 'a.yaml:1:1: kind: must be given'],
    [
      'an object without a name',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: {}\n',
      'a.yaml:3:1: metadata.name: must be given',
    ],
    ['an object without metadata', 'apiVersion: v1\nkind: ConfigMap\n', 'a.yaml:1:1: metadata: must be given'],
    ['a name that is a number', configMap('0123'), 'a.yaml:4:3: metadata.name: must be text'],
    [
      'a generated name',
      'apiVersion: v1\nkind: Job\nmetadata:\n  generateName: a-\n',
      'a.yaml:4:3: metadata.generateName: every sync',
    ],
    [
      'a label that is a boolean',
      configMap('a', '  labels:\n    team: shop\n    a.b/live: yes\n'),
      'a.yaml:7:5: metadata.labels["a.b/live"]: must be text',
    ],
    ['a list', '- a\n- b\n', 'a.yaml:1:1: this is not a Kubernetes object'],
    ['a scalar', 'hello\n', 'a.yaml:1:1: this is not a Kubernetes object'],
    [
      'a list in a list',
      'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: List, items: []}\n',
      'a.yaml:4:3: this is not',
    ],
    ['a SOPS file', configMap('a', 'sops:\n  mac: x\n'), 'a.yaml:5:1: sops: the manifest is encrypted'],
    ['a separator with content', `${configMap('a')}--- x\n`, 'a.yaml:5:4: only a comment'],
    ['a mistake in a later document', `${configMap('a')}---\n\n# b\nkind: {\n`, 'a.yaml:9:1: '],
  ])('%s', (_what, content, message) => {
    expect(mistakes(read({ 'a.yaml': content }))).toContainEqual(expect.stringContaining(message));
  });

  test('of a field: at its name, or at the deepest field around it that is there', () => {
    const validate: Validate = () => [
      { path: 'spec.list[1].value', message: 'wrong' },
      { path: 'spec.list[5].value', message: 'wrong' },
      { path: 'metadata.annotations["a.b/c"].deeper', message: 'wrong' },
      { path: 'spec.missing', message: 'wrong' },
      { path: '', message: 'wrong' },
    ];
    const content = configMap(
      'a',
      '  annotations:\n    "a.b/c": x\nspec:\n  list:\n  - name: one\n  - name: two\n    value: 2\n',
    );
    expect(mistakes(read({ 'a.yaml': content }, validate))).toEqual([
      'a.yaml:11:5: spec.list[1].value: wrong',
      'a.yaml:8:3: spec.list[5].value: wrong',
      'a.yaml:6:5: metadata.annotations["a.b/c"].deeper: wrong',
      'a.yaml:7:1: spec.missing: wrong',
      'a.yaml:1:1: wrong',
    ]);
  });

  test('and what is in the file is not repeated', () => {
    const content = 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: hunter2\n';
    const [message] = mistakes(read({ 'a.yaml': content }));
    expect(message).toMatch(/^a\.yaml:\d+:\d+: /);
    expect(message).not.toContain('hunter2');
  });
});

describe('a revision is taken whole or not at all', () => {
  test('all its mistakes are reported together, none of its manifests', () => {
    const reading = read({ 'a.yaml': configMap('a'), 'b.yaml': 'kind: x', 'c.yaml': '[' });
    expect(reading).not.toHaveProperty('manifests');
    expect(mistakes(reading).map((mistake) => mistake.slice(0, 6))).toEqual(['b.yaml', 'c.yaml']);
  });

  test('an object that is written twice is a mistake that names both places', () => {
    const reading = read({ 'a.yaml': configMap('a'), 'b.yaml': `\n${configMap('a', '  namespace: shop\n')}` });
    expect(mistakes(reading)).toEqual(['b.yaml:2:1: ConfigMap a is also at a.yaml:1:1']);
  });

  test.each([
    ['another namespace', configMap('a', '  namespace: other\n')],
    ['another kind', configMap('a').replace('ConfigMap', 'Secret')],
    ['another group', configMap('a').replace('v1', 'example.com/v1')],
  ])('the same name in %s is another object', (_what, content) => {
    expect(objects(read({ 'a.yaml': configMap('a'), 'b.yaml': content }))).toHaveLength(2);
  });

  test('the same object in two versions is written twice', () => {
    const one = configMap('a').replace('v1', 'example.com/v1');
    expect(mistakes(read({ 'a.yaml': one, 'b.yaml': one.replace('/v1', '/v2') }))).toHaveLength(1);
  });

  test('beyond a number, mistakes are only counted', () => {
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}.yaml`, `[${index}`]));
    const found = mistakes(read(files));
    expect(found).toHaveLength(51);
    expect(found.at(-1)).toContain('and 9 more mistakes');
  });
});

describe('folders of other tools are refused by name, not file by file', () => {
  test.each([
    ['app/kustomization.yaml', 'kustomize build'],
    ['app/kustomization.yml', 'kustomize build'],
    ['app/Kustomization', 'kustomize build'],
    ['app/Chart.yaml', 'helm template'],
  ])('%s', (path, way) => {
    const found = mistakes(
      read({
        [path]: 'a: b',
        'app/values.yaml': 'x: 1',
        'app/templates/x.yaml': '{{ x }}',
        'other.yaml': configMap('o'),
      }),
    );
    expect(found).toEqual([expect.stringContaining(`${path}:1:1: `)]);
    expect(found[0]).toContain(way);
  });
});

describe('a file whose content is known', () => {
  test('is not read again, under whatever name', () => {
    let validated = 0;
    const reader = new ManifestReader({ validate: () => ((validated += 1), []) });
    reader.read(snapshot({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b') }), { defaultNamespace: 'shop' });
    const again = snapshot({ 'moved.yaml': configMap('a'), 'b.yaml': configMap('c') });
    expect(reader.read(again, { defaultNamespace: 'shop' })).toMatchObject({
      manifests: [{ source: { file: 'moved.yaml' } }, { source: { file: 'b.yaml' } }],
    });
    expect(validated).toBe(3);
  });
});

describe('limits', () => {
  test.each<[string, string, object, string]>([
    ['a long file', configMap('a'), { fileLength: 10 }, 'longer than 10 characters'],
    ['many documents', 'a: 1\n---\n'.repeat(5), { documents: 3 }, 'more than 3 documents'],
  ])('%s', (_what, content, limits, message) => {
    const reading = new ManifestReader({ validate: () => [], limits }).read(snapshot({ 'a.yaml': content }), {
      defaultNamespace: 'shop',
    });
    expect(mistakes(reading)).toEqual([expect.stringContaining(message)]);
  });

  test('a list of thousands is placed in no time', () => {
    const items = Array.from(
      { length: 10_000 },
      (_, index) => `- {apiVersion: v1, kind: ConfigMap, metadata: {name: a${index}}}`,
    );
    const start = performance.now();
    expect(objects(read({ 'a.yaml': `apiVersion: v1\nkind: List\nitems:\n${items.join('\n')}\n` }))).toHaveLength(
      10_000,
    );
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
