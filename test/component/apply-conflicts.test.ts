import { describe, expect, it } from 'vitest';
import { firstLook, withMark } from '../../src/apply/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import {
  ApplyFixture,
  asController,
  asPerson,
  CLUSTER,
  DEPLOYMENT,
  updateAs,
  withContainer,
  withSpec,
} from '../support/apply-fixture.ts';
import { adminClient } from '../support/lab.ts';

const fixture = ApplyFixture.install();

describe("a person's edit", () => {
  it.each<[string, (live: KubernetesObject) => KubernetesObject]>([
    ['a scalar', (live) => withSpec(live, { replicas: 1 })],
    ['a label', (live) => ({ ...live, metadata: { ...live.metadata, labels: { tier: 'back' } } })],
    ['a field of a list item', (live) => withContainer(live, { image: 'web:evil' })],
    ['an atomic list', (live) => withContainer(live, { args: ['--slow'] })],
    ['an item of a list', (live) => withContainer(live, { env: [] })],
  ])('of %s is taken back by a single apply, three times in a row', async (_, edit) => {
    let live = await fixture.created(fixture.deployment());
    for (let round = 0; round < 3; round += 1) {
      const edited = await updateAs(asPerson, edit(live));
      expect(firstLook(withMark(fixture.deployment(), fixture.owner), edited, 'atoll').inSync).toBe(false);
      const outcome = await fixture.apply(fixture.deployment(), edited);
      expect(outcome.result).toBe('updated');
      const requests = fixture.client.takeRequests();
      expect(requests).toHaveLength(1);
      live = await fixture.liveOf(DEPLOYMENT, 'web');
      expect(live['spec']).toMatchObject(fixture.deployment()['spec'] as Record<string, unknown>);
      expect(live.metadata.labels).toMatchObject({ tier: 'front' });
      await expect(fixture.apply(fixture.deployment(), live)).resolves.toMatchObject({ result: 'unchanged' });
    }
  });

  it.each([
    ['patch', ['patch', 'deployment/web', '--type=merge', '--patch={"spec":{"replicas":1}}']],
    ['set image', ['set', 'image', 'deployment/web', 'app=web:evil']],
    ['label', ['label', 'deployment/web', 'tier=back', '--overwrite']],
    ['annotate', ['annotate', 'deployment/web', 'atoll.dev/applied-hash=forged', '--overwrite']],
  ])('by kubectl %s is taken back by a single apply', async (_, command) => {
    const { metadata, ...before } = await fixture.created(fixture.deployment());
    await fixture.kubectl(...command);
    await expect(fixture.apply(fixture.deployment(), await fixture.liveOf(DEPLOYMENT, 'web'))).resolves.toMatchObject({
      result: 'updated',
    });
    expect(fixture.client.takeRequests()).toEqual(['apply! Deployment/web']);
    const after = await fixture.liveOf(DEPLOYMENT, 'web');
    expect(after['spec']).toEqual(before['spec']);
    expect(after.metadata.labels).toEqual(metadata.labels);
    expect(after.metadata.annotations).toEqual(metadata.annotations);
  });

  it('that the cache has not seen yet is taken back after one read', async () => {
    const cached = await fixture.created(fixture.deployment());
    await updateAs(asPerson, withSpec(cached, { replicas: 1 }));
    await expect(fixture.apply(fixture.deployment('web:2'), cached)).resolves.toMatchObject({ result: 'updated' });
    expect(fixture.client.takeRequests()).toEqual([
      'apply Deployment/web',
      'get Deployment/web',
      'apply! Deployment/web',
    ]);
    expect((await fixture.liveOf(DEPLOYMENT, 'web'))['spec']).toMatchObject({ replicas: 0 });
  });

  it('is taken back by the state as it is, and what a controller wrote meanwhile is left', async () => {
    const first = await fixture.created(fixture.deployment());
    const edited = await updateAs(asPerson, withSpec(first, { replicas: 1 }));
    await updateAs(asController, withContainer(edited, { image: 'web:controlled' }));
    const outcome = await fixture.apply(fixture.deployment(), edited);
    expect(outcome).toMatchObject({ result: 'updated', left: [{ manager: 'some-controller', why: 'controller' }] });
    const after = await fixture.liveOf(DEPLOYMENT, 'web');
    expect(after['spec']).toMatchObject({ replicas: 0 });
    expect(JSON.stringify(after)).toContain('web:controlled');
  });

  it('that wiped managedFields is healed', async () => {
    const live = await fixture.created(fixture.deployment());
    const wiped = await updateAs(asPerson, {
      ...withSpec(live, { replicas: 1 }),
      metadata: { ...live.metadata, managedFields: [{}] },
    });
    await expect(fixture.apply(fixture.deployment(), wiped)).resolves.toMatchObject({ result: 'updated' });
    const after = await fixture.liveOf(DEPLOYMENT, 'web');
    expect(after['spec']).toMatchObject({ replicas: 0 });
    expect(firstLook(withMark(fixture.deployment(), fixture.owner), after, 'atoll').inSync).toBe(true);
  });
});

describe("another manager's field", () => {
  it('is left alone and reported with manager and path when an applier holds it', async () => {
    const live = await fixture.created(fixture.deployment());
    const rival = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: fixture.namespace },
    };
    const held = await adminClient(CLUSTER).apply({ ...rival, spec: { replicas: 1 } }, asController, { force: true });
    await expect(fixture.apply(fixture.deployment(), held)).resolves.toMatchObject({
      result: 'unchanged',
      left: [{ manager: 'some-controller', path: '.spec.replicas', why: 'applier' }],
    });
    expect(fixture.client.takeRequests()).toEqual([]);
    expect((await fixture.liveOf(DEPLOYMENT, 'web'))['spec']).toMatchObject({ replicas: 1 });
    expect(live.metadata.uid).toBe(held.metadata.uid);
  });

  it('is left alone when it was set through the scale subresource, even by a person', async () => {
    await fixture.created(fixture.deployment());
    await fixture.kubectl('scale', 'deployment/web', '--replicas=1');
    const scaled = await fixture.liveOf(DEPLOYMENT, 'web');
    await expect(fixture.apply(fixture.deployment(), scaled)).resolves.toMatchObject({
      result: 'unchanged',
      left: [{ manager: 'kubectl', subresource: 'scale', path: '.spec.replicas', why: 'scale' }],
    });
    expect(fixture.client.takeRequests()).toEqual([]);
  });

  it('is taken when force is asked for', async () => {
    const live = await fixture.created(fixture.deployment());
    const held = await updateAs(asController, withSpec(live, { replicas: 1 }));
    await expect(fixture.apply(fixture.deployment(), held, { force: true })).resolves.toMatchObject({
      result: 'updated',
    });
    expect(fixture.client.takeRequests()).toEqual(['apply! Deployment/web']);
  });
});
