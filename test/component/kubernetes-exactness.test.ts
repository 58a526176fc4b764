import { beforeAll, describe, expect, test } from 'vitest';
import type { GroupVersionKind, KubernetesObject } from '../../src/kernel/index.ts';
import { BadRequestError } from '../../src/kubernetes/index.ts';
import type { KubernetesClient } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, eventually, uniqueName } from '../support/lab.ts';

let client: KubernetesClient;
let namespace: string;
let gvk: GroupVersionKind;

/** Everything that a schema may say which is no OpenAPI, and numbers that a float does not hold. */
const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      'x-kubernetes-validations': [{ rule: '!has(self.limit) || self.limit != 7', message: 'must not be 7' }],
      properties: {
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        limit: { type: 'integer', format: 'int64', maximum: 9007199254740991 },
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port'],
          items: { type: 'object', required: ['port'], properties: { port: { type: 'integer' } } },
        },
        names: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        labels: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
      },
    },
  },
};

beforeAll(async () => {
  client = adminClient('eu-1');
  namespace = await createNamespace('eu-1');
  const plural = uniqueName('exact');
  const kind = `Kind${plural.replaceAll('-', '')}`;
  gvk = { group: 'atoll-test.example', version: 'v1', kind };
  const spec = {
    group: gvk.group,
    scope: 'Namespaced',
    names: { plural, kind, listKind: `${kind}List`, singular: plural },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } }],
  };
  const apiVersion = 'apiextensions.k8s.io/v1';
  const definition = {
    apiVersion,
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${gvk.group}` },
    spec,
  };
  const applied = await client.apply(definition, asTester);
  const { versions } = applied['spec'] as typeof spec;
  // What is left out on the way would be missing here, and the definition be refused by the server as not structural.
  expect(versions[0]?.schema.openAPIV3Schema).toEqual(SCHEMA);
  await eventually(() => client.list(gvk), { message: 'the new kind is not served' });
});

const object = (name: string, spec: unknown): KubernetesObject => ({
  apiVersion: `${gvk.group}/v1`,
  kind: gvk.kind,
  metadata: { name, namespace },
  spec,
});

/** Values that are changed or refused on the way by one JSON or YAML library or another. */
const VALUES: Record<string, unknown> = {
  'integers at the bounds of a float': [9007199254740991, 9007199254740992n, 9007199254740993n, -9007199254740993n],
  'integers at the bounds of 64 bits': [9223372036854775807n, -9223372036854775808n],
  'small and large fractions': [0.1, -2.5, 1e-7, 1.7976931348623157e308, 5e-324],
  'zero, false, empty': { zero: 0, no: false, text: '', list: [], object: {} },
  'texts that look like other things': ['1', 'true', 'null', '~', 'no', '0x1f', '1e3', '2026-01-01', '.inf', '=', '<<'],
  'texts of YAML’s own characters': [
    '# x',
    '- x',
    'a: b',
    '{',
    '[',
    '*a',
    '&a',
    '!a',
    '|',
    '>',
    '%',
    '@',
    '`',
    '"',
    "'",
    '\\',
  ],
  'texts with lines and spaces': ['a\nb', 'a\r\nb\n\n', '\ta\t', '  a  ', '\n', ' ', 'a\u00a0b', '---', '...\n---\n'],
  controls: Array.from({ length: 0x20 }, (_, code) => `a ${String.fromCodePoint(code)} b`),
  'controls beyond ASCII': Array.from({ length: 0x21 }, (_, code) => `a ${String.fromCodePoint(0x7f + code)} b`),
  'separators, marks and noncharacters': [
    'a \u2028 b',
    ' \u2029 ',
    '\ufeff',
    'a\ufffeb',
    '\uffff',
    '\ufdd0',
    '\u{1fffe}',
  ],
  'astral characters and combined ones': ['😀', '👨‍👩‍👧', 'e\u0301', '\u{10ffff}', '\ue000'],
  'HTML, which Go escapes': ['<a href="x">&amp;</a>', '\u003c'],
  'keys of all kinds': Object.fromEntries(
    [
      '',
      ' ',
      '1',
      '-',
      'true',
      'null',
      '~',
      '<<',
      'a b',
      'a: b',
      '__proto__',
      'constructor',
      'ä',
      '😀',
      '\u0085',
      '\u2028',
    ].map((key) => [key, key]),
  ),
  depth: Array.from({ length: 200 }).reduce((inner: unknown) => ({ a: [inner] }), 'bottom'),
};

describe.each(Object.entries(VALUES))('%s', (what, value) => {
  const name = (prefix: string): string => `${prefix}-${Object.keys(VALUES).indexOf(what)}`;

  test('are stored as they were sent, by apply and by create', async () => {
    const [applied, created] = [object(name('applied'), { value }), object(name('created'), { value })];
    expect((await client.apply(applied, asTester))['spec']).toEqual({ value });
    expect((await client.create(created, asTester))['spec']).toEqual({ value });
    const names = [name('applied'), name('created')];
    const { items } = await client.list(gvk, { namespace });
    for (const found of items.filter(({ metadata }) => names.includes(metadata.name ?? ''))) {
      expect(found['spec']).toEqual({ value });
    }
  });

  test('written back as they were read are no change', async () => {
    const created = await client.create(object(name('kept'), { value }), asTester);
    const read = (await client.get({ gvk, namespace, name: name('kept') })) ?? {};
    expect(read).toEqual(created);
    const updated = await client.update(read as KubernetesObject, asTester);
    expect(updated.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    const patched = await client.jsonPatch(
      { gvk, namespace, name: name('kept') },
      [{ op: 'replace', path: '/spec/value', value: ((read as KubernetesObject)['spec'] as { value: unknown }).value }],
      asTester,
    );
    expect(patched.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
  });
});

test('an object that nests more deeply than most programs can read does not keep the others from being read', async () => {
  const deep = Array.from({ length: 2700 }).reduce((inner: unknown) => ({ a: inner }), 9007199254740993n);
  const created = await client.create(object('deep', { deep }), asTester);
  try {
    const { items } = await client.list(gvk, { namespace });
    expect(items.map(({ metadata }) => metadata.name)).toContain('deep');
    const stop = new AbortController();
    const start = {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      fieldSelector: 'metadata.name=deep',
    } as const;
    for await (const event of client.watch(gvk, { ...start, namespace, signal: stop.signal })) {
      expect(event.object.metadata.name).toBe('deep');
      stop.abort();
    }
    expect(stop.signal.aborted).toBe(true);
  } finally {
    await client.delete({ gvk, namespace, name: 'deep' }, { uid: created.metadata.uid ?? '' }, asTester);
  }
});

test('a key that is too long for YAML is refused by apply, not changed', async () => {
  const spec = { value: { ['k'.repeat(1025)]: 1 } };
  await expect(client.apply(object('long-key', spec), asTester)).rejects.toThrow(BadRequestError);
  await expect(client.create(object('long-key', spec), asTester)).resolves.toMatchObject({ spec });
});

test('fields that no schema of a built-in kind knows are refused, never dropped', async () => {
  const strange = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'strange', namespace }, colour: 'red' };
  await expect(client.create(strange, asTester)).rejects.toThrow('colour');
  await expect(client.apply(strange, asTester)).rejects.toThrow('colour');
});
