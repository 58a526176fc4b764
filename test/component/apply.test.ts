import { describe, expect, it } from 'vitest';
import { inApplyOrder, markOf } from '../../src/apply/index.ts';
import { WaitingError, gvkOf } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { InvalidError } from '../../src/kubernetes/index.ts';
import { workloads } from '../../src/workloads/index.ts';
import {
  ApplyFixture,
  asController,
  CLUSTER,
  CONFIG_MAP,
  DEPLOYMENT,
  updateAs,
  withSpec,
} from '../support/apply-fixture.ts';
import { adminClient, asTester } from '../support/lab.ts';
import { recordingClient } from '../support/recording-client.ts';

const fixture = ApplyFixture.install();

describe('an object that is not there', () => {
  it('is looked for and created by an apply of ours', async () => {
    const outcome = await fixture.apply(fixture.deployment(), undefined);
    expect(outcome.result).toBe('created');
    expect(fixture.client.takeRequests()).toEqual(['get Deployment/web', 'apply Deployment/web']);
    const live = await fixture.liveOf(DEPLOYMENT, 'web');
    expect(markOf(live)).toEqual({ mark: fixture.owner, valid: true, adopted: false });
    expect(live.metadata.managedFields).toMatchObject([{ manager: 'atoll', operation: 'Apply' }]);
  });

  it('is not merged into one that appeared after we looked', async () => {
    const late = recordingClient(CLUSTER);
    late.get = async () => {
      await adminClient(CLUSTER).create(fixture.configMap({ theirs: 'yes' }), asTester);
      return undefined;
    };
    await expect(fixture.apply(fixture.configMap({ ours: 'yes' }), undefined, { client: late })).rejects.toThrow(
      WaitingError,
    );
    await late.close();
    expect((await fixture.liveOf(CONFIG_MAP, 'settings'))['data']).toEqual({ theirs: 'yes' });
  });
});

describe('an object that is in sync', () => {
  it('causes no request, from the first look on', async () => {
    await fixture.created(fixture.deployment());
    const live = await fixture.liveOf(DEPLOYMENT, 'web');
    await expect(fixture.apply(fixture.deployment(), live)).resolves.toMatchObject({ result: 'unchanged', left: [] });
    expect(fixture.client.takeRequests()).toEqual([]);
  });

  it('is found by one read when the cache does not have it', async () => {
    await fixture.created(fixture.deployment());
    await expect(fixture.apply(fixture.deployment(), undefined)).resolves.toMatchObject({ result: 'unchanged' });
    expect(fixture.client.takeRequests()).toEqual(['get Deployment/web']);
  });

  it('stays so whatever others add', async () => {
    const live = await fixture.created(fixture.deployment());
    const labels = { ...live.metadata.labels, foreign: 'label' };
    await updateAs(asController, { ...live, metadata: { ...live.metadata, labels } });
    const after = await fixture.liveOf(DEPLOYMENT, 'web');
    expect(after.metadata.labels).toHaveProperty('foreign');
    await expect(fixture.apply(fixture.deployment(), after)).resolves.toMatchObject({ result: 'unchanged' });
    expect(fixture.client.takeRequests()).toEqual([]);
  });

  it.each(workloads.map((workload) => [workload.kind.gvk.kind, workload] as const))(
    'is every child that a %s renders, the second time',
    async (_, workload) => {
      const object = workload.kind.schema.parse({
        apiVersion: `${workload.kind.gvk.group}/${workload.kind.gvk.version}`,
        kind: workload.kind.gvk.kind,
        metadata: { name: 'sample', namespace: fixture.namespace },
        spec: {},
      }) as KubernetesObject;
      const children = inApplyOrder(workload.render(object), gvkOf);
      for (const child of children) await fixture.apply(child, undefined);
      fixture.client.takeRequests();
      for (const child of children) {
        const outcome = await fixture.apply(child, undefined);
        expect(`${child.kind} ${outcome.result}`).toBe(`${child.kind} unchanged`);
      }
      expect(fixture.client.takeRequests()).toEqual(
        children.map((child) => `get ${child.kind}/${child.metadata.name ?? ''}`),
      );
    },
  );
});

describe('a changed desired state', () => {
  it('is one apply, and what it dropped is removed', async () => {
    const live = await fixture.created(fixture.configMap({ a: '1', b: '2' }));
    await expect(fixture.apply(fixture.configMap({ a: '3' }), live)).resolves.toMatchObject({ result: 'updated' });
    expect(fixture.client.takeRequests()).toEqual(['apply ConfigMap/settings']);
    expect((await fixture.liveOf(CONFIG_MAP, 'settings'))['data']).toEqual({ a: '3' });
  });

  it('drops a key of stringData from a Secret for good', async () => {
    const secret = (stringData: Record<string, string>): KubernetesObject => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'secret', namespace: fixture.namespace },
      stringData,
    });
    const live = await fixture.created(secret({ a: 'grün', b: '2' }));
    await fixture.apply(secret({ a: 'grün' }), live);
    const after = await fixture.liveOf({ group: '', version: 'v1', kind: 'Secret' }, 'secret');
    expect(after['data']).toEqual({ a: Buffer.from('grün').toString('base64') });
  });

  it('does not bring back an object that is deleted, although the cache still has it', async () => {
    const live = await fixture.created(fixture.configMap({ a: '1' }));
    await fixture.deleteConfigMap(live);
    await expect(fixture.apply(fixture.configMap({ a: '2' }), live)).rejects.toThrow(WaitingError);
    await expect(adminClient(CLUSTER).get(fixture.refOf(CONFIG_MAP, 'settings'))).resolves.toBeUndefined();
  });

  it('does not touch an object that took the place of the cached one', async () => {
    const live = await fixture.created(fixture.configMap({ a: '1' }));
    await fixture.deleteConfigMap(live);
    await adminClient(CLUSTER).create(fixture.configMap({ theirs: 'yes' }), asTester);
    await expect(fixture.apply(fixture.configMap({ a: '2' }), live)).resolves.toMatchObject({ result: 'foreign' });
    expect((await fixture.liveOf(CONFIG_MAP, 'settings'))['data']).toEqual({ theirs: 'yes' });
  });

  it('is refused with the field when the field is immutable', async () => {
    const live = await fixture.created(fixture.deployment());
    const changed = withSpec(fixture.deployment(), { selector: { matchLabels: { app: 'other' } } });
    const error = await fixture.apply(changed, live).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidError);
    expect((error as InvalidError).fields.map(({ path }) => path)).toContain('spec.selector');
  });

  it('waits for an object that is being deleted', async () => {
    const live = await fixture.created({
      ...fixture.configMap({ a: '1' }),
      metadata: { name: 'settings', namespace: fixture.namespace, finalizers: ['example.com/wait'] },
    });
    await fixture.deleteConfigMap(live);
    const going = await fixture.liveOf(CONFIG_MAP, 'settings');
    await expect(fixture.apply(fixture.configMap({ a: '2' }), going)).rejects.toThrow(WaitingError);
    expect(fixture.client.takeRequests()).toEqual([]);
    await fixture.release('settings');
  });
});
