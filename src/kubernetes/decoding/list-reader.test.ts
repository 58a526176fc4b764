import { describe, expect, test } from 'vitest';
import { systemClock } from '../../kernel/index.ts';
import type { KubernetesObject } from '../../kernel/index.ts';
import { UnexpectedAnswerError } from '../api-errors.ts';
import type { ListPage, ObjectForm } from '../client-options.ts';
import { readList } from './list-reader.ts';
import { ObjectDecoder } from './object-decoder.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const CUSTOM = { group: 'test.example', version: 'v1', kind: 'Cactus' };
const reading = { what: 'list', clock: systemClock, maxItemBytes: 1000, maxListBytes: 10_000 };

async function read(answer: unknown, form: ObjectForm = {}, gvk = CONFIG_MAP): Promise<ListPage> {
  const chunks = async function* (): AsyncGenerator<Buffer, void> {
    yield Buffer.from(JSON.stringify(answer));
  };
  return readList(chunks(), new ObjectDecoder(gvk, form), reading);
}

const metadata = { name: 'a', labels: { app: 'web' } };
const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' }, items: [{ metadata }] };
const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
const partialList = { ...list, kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', items: [partial] };
const cactus = { kind: 'Cactus', apiVersion: 'test.example/v1', metadata };
const cacti = {
  kind: 'CactusList',
  apiVersion: 'test.example/v1',
  metadata: { resourceVersion: '7' },
  items: [cactus],
};

describe('a list', () => {
  test('of a built-in kind gives its items apiVersion and kind', async () => {
    const items = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata }];
    expect(await read(list)).toEqual({ items, resourceVersion: '7' });
  });

  test('is the same when its metadata come last', async () => {
    const { items, ...rest } = list;
    expect(await read({ items, ...rest })).toEqual(await read(list));
  });

  test('bears the token of the next page only when there is one', async () => {
    const withToken = (token: string): unknown => ({ ...list, metadata: { resourceVersion: '7', continue: token } });
    expect(await read(withToken('next'))).toMatchObject({ continue: 'next' });
    expect(await read(withToken(''))).not.toHaveProperty('continue');
  });

  test('of custom resources may have a name of its own', async () => {
    expect(await read({ ...cacti, kind: 'Cacti' }, {}, CUSTOM)).toEqual({ items: [cactus], resourceVersion: '7' });
    expect(await read({ ...cacti, kind: 'Cacti', items: [] }, {}, CUSTOM)).toEqual({ items: [], resourceVersion: '7' });
  });

  test('of nothing may come as null', async () => {
    expect(await read({ ...list, items: null })).toEqual({ items: [], resourceVersion: '7' });
  });

  test.each<[string, unknown, typeof CONFIG_MAP?]>([
    ['of another kind', { ...list, kind: 'SecretList' }],
    ['of nothing, of another kind', { ...list, kind: 'SecretList', items: [] }],
    ['of another version', { ...list, apiVersion: 'v2' }],
    ['of custom resources of another group', { ...cacti, apiVersion: 'other.example/v1', items: [] }, CUSTOM],
    [
      'by another name with items that do not say what they are',
      { ...cacti, kind: 'Cacti', items: [{ metadata }] },
      CUSTOM,
    ],
    ['with an item of another kind', { ...list, items: [{ kind: 'Secret', apiVersion: 'v1', metadata }] }],
    ['of metadata, unasked', partialList],
    ['with an item that is no object', { ...list, items: ['a'] }],
    ['with an item without a name', { ...list, items: [{ metadata: { name: '' } }] }],
    ['with an item without metadata', { ...list, items: [{ data: {} }] }],
    ['without a version', { ...list, metadata: {} }],
    ['without metadata', { ...list, metadata: undefined }],
    ['that is a Table', { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '7' }, rows: [] }],
    ['that is a Status', { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }],
  ])('%s is refused', async (_behaviour, answer, gvk) => {
    await expect(read(answer, {}, gvk)).rejects.toThrow(UnexpectedAnswerError);
  });
});

describe('metadata only', () => {
  const item = { apiVersion: 'v1', kind: 'ConfigMap', metadata };

  test('bear the kind that was asked for', async () => {
    expect((await read(partialList, { metadataOnly: true })).items).toEqual([item]);
  });

  test('are cut out here when the server does not', async () => {
    const whole = { ...list, items: [{ metadata, data: { key: 'value' } }] };
    expect((await read(whole, { metadataOnly: true })).items).toEqual([item]);
  });
});

describe('a transform', () => {
  test('sees each item as it would be answered, and its answer takes the place', async () => {
    const seen: KubernetesObject[] = [];
    const transform = (object: KubernetesObject): KubernetesObject => {
      seen.push(object);
      return { ...object, metadata: { name: 'other' } };
    };
    expect((await read(list, { transform })).items).toEqual([
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' } },
    ]);
    expect(seen).toEqual((await read(list)).items);
  });

  test('that throws ends the list with what it throws', async () => {
    const refusal = new Error('too much');
    const transform = (): never => {
      throw refusal;
    };
    await expect(read(list, { transform })).rejects.toBe(refusal);
  });
});
