import { afterAll, beforeAll, expect, test } from 'vitest';
import { ExpiredError } from '../../src/kubernetes/index.ts';
import { asTester } from '../support/lab.ts';
import { OwnCluster } from '../support/own-cluster.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const listed = { namespace: 'default', labelSelector: 'list=yes' };

let cluster: OwnCluster;
/** Of a list that was begun before the storage dropped its history. */
let begun: { readonly resourceVersion: string; readonly continue?: string };

beforeAll(async () => {
  cluster = await OwnCluster.start();
  for (const name of ['a', 'b', 'c']) {
    const metadata = { name, namespace: 'default', labels: { list: 'yes' } };
    await cluster.admin.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, asTester);
  }
  begun = await cluster.admin.list(CONFIG_MAP, { ...listed, limit: 1 });
  const metadata = { name: 'd', namespace: 'default', labels: { list: 'yes' } };
  await cluster.admin.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, asTester);
  await cluster.compact();
  // What the API server still remembers itself is none of the storage's history.
  await cluster.kill();
  await cluster.startServices();
});

afterAll(() => cluster.stop());

test('a list at a version that the storage dropped is refused as expired', async () => {
  const { resourceVersion } = begun;
  const late = cluster.admin.list(CONFIG_MAP, { ...listed, resourceVersion, resourceVersionMatch: 'Exact' });
  await expect(late).rejects.toMatchObject({ name: 'ExpiredError', status: 410 });
});

test('a list that is gone on with too late is refused; the token that the server offers instead is not handed on', async () => {
  const { continue: token = '' } = begun;
  expect(token).not.toBe('');
  const late = cluster.admin.list(CONFIG_MAP, { ...listed, limit: 1, continue: token });
  await expect(late).rejects.toThrow(ExpiredError);
  const error = (await late.catch((reason: unknown) => reason)) as ExpiredError;
  expect(JSON.stringify(error)).not.toContain('continue');
});
