import { describe, expect, it } from 'vitest';
import { removeObject } from '../../src/apply/index.ts';
import { ConflictError } from '../../src/kubernetes/index.ts';
import { ApplyFixture, asAtoll, CLUSTER, CONFIG_MAP, updateAs } from '../support/apply-fixture.ts';
import { adminClient, asTester, eventually } from '../support/lab.ts';

const fixture = ApplyFixture.install();

describe('a foreign object', () => {
  it('is not touched, and costs one read', async () => {
    await adminClient(CLUSTER).create(fixture.configMap({ theirs: 'yes' }), asTester);
    const outcome = await fixture.apply(fixture.configMap({ ours: 'yes' }), undefined);
    expect(outcome).toMatchObject({
      result: 'foreign',
      message: expect.stringContaining(`ConfigMap ${fixture.namespace}/`),
    });
    expect(fixture.client.takeRequests()).toEqual(['get ConfigMap/settings']);
    expect((await fixture.liveOf(CONFIG_MAP, 'settings'))['data']).toEqual({ theirs: 'yes' });
  });

  it('is also one that bears a mark copied from one of ours', async () => {
    const { metadata } = await fixture.created(fixture.configMap({ a: '1' }));
    const { labels, annotations } = metadata;
    const copy = { name: 'copy', namespace: fixture.namespace, labels: { ...labels }, annotations: { ...annotations } };
    await adminClient(CLUSTER).create({ ...fixture.configMap({ theirs: 'yes' }), metadata: copy }, asTester);
    await expect(fixture.apply(fixture.configMap({ ours: 'yes' }, 'copy'), undefined)).resolves.toMatchObject({
      result: 'foreign',
    });
    await expect(fixture.removeConfigMap('copy', await fixture.liveOf(CONFIG_MAP, 'copy'))).resolves.toBe('foreign');
    expect((await fixture.liveOf(CONFIG_MAP, 'copy'))['data']).toEqual({ theirs: 'yes' });
  });

  it('is adopted when that is asked for, unless somebody else owns it', async () => {
    await adminClient(CLUSTER).create(fixture.configMap({ theirs: 'yes' }), asTester);
    await expect(
      fixture.apply(fixture.configMap({ ours: 'yes' }), undefined, { adoption: 'Adopt' }),
    ).resolves.toMatchObject({
      result: 'updated',
    });
    const other = { ...fixture.owner, name: 'other' };
    const outcome = await fixture.apply(fixture.configMap({ ours: 'no' }), undefined, {
      adoption: 'Adopt',
      owner: other,
    });
    expect(outcome).toMatchObject({ result: 'foreign', message: expect.stringContaining(`${fixture.namespace}/mine`) });
    expect((await fixture.liveOf(CONFIG_MAP, 'settings'))['data']).toEqual({ theirs: 'yes', ours: 'yes' });
  });
});

describe('removing', () => {
  it('deletes what bears our mark, and is done when it is gone', async () => {
    const live = await fixture.created(fixture.configMap({ a: '1' }));
    await expect(fixture.removeConfigMap('settings', live)).resolves.toBe('deleting');
    await eventually(async () => (await fixture.removeConfigMap('settings', undefined)) === 'gone', {
      message: 'the object stays',
    });
  });

  it('asks once', async () => {
    const live = await fixture.created({
      ...fixture.configMap({ a: '1' }),
      metadata: { name: 'settings', namespace: fixture.namespace, finalizers: ['example.com/wait'] },
    });
    await fixture.removeConfigMap('settings', live);
    const going = await fixture.liveOf(CONFIG_MAP, 'settings');
    fixture.client.takeRequests();
    await expect(fixture.removeConfigMap('settings', going)).resolves.toBe('deleting');
    expect(fixture.client.takeRequests()).toEqual([]);
    // What a cache that is behind shows.
    await expect(fixture.removeConfigMap('settings', live)).resolves.toBe('deleting');
    await fixture.release('settings');
  });

  it('refuses what has changed since it was looked at', async () => {
    const live = await fixture.created(fixture.configMap({ a: '1' }));
    await updateAs(asTester, { ...live, data: { a: 'new and precious' } });
    await expect(fixture.removeConfigMap('settings', live)).rejects.toThrow(ConflictError);
    expect((await fixture.liveOf(CONFIG_MAP, 'settings'))['data']).toEqual({ a: 'new and precious' });
  });

  it("is done when the name has become somebody else's", async () => {
    const live = await fixture.created(fixture.configMap({ a: '1' }));
    await fixture.deleteConfigMap(live);
    await adminClient(CLUSTER).create(fixture.configMap({ theirs: 'yes' }), asTester);
    await expect(fixture.removeConfigMap('settings', live)).resolves.toBe('gone');
    expect((await fixture.liveOf(CONFIG_MAP, 'settings'))['data']).toEqual({ theirs: 'yes' });
  });

  it('has nothing to do for a kind that the cluster does not serve', async () => {
    const ref = { ...fixture.refOf({ group: 'example.com', version: 'v1', kind: 'Nothing' }, 'a') };
    await expect(removeObject({ client: fixture.client, ref, live: undefined, write: asAtoll })).resolves.toBe('gone');
  });
});
