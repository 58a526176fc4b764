import { describe, expect, it } from 'vitest';
import type { ApplyOutcome } from '../../src/apply/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import {
  ApplyFixture,
  asAtoll,
  asController,
  asPerson,
  CLUSTER,
  DEPLOYMENT,
  updateAs,
  withContainer,
  withSpec,
} from '../support/apply-fixture.ts';
import { adminClient } from '../support/lab.ts';

// The twenty kinds of writes of docs/decisions/0012, each seen on a real API server.

const fixture = ApplyFixture.install();
const NAME = 'web';

type Edit = (live: KubernetesObject) => Promise<unknown>;

/** An object whose list items, set items and atomic lists can be told apart. */
function desired(): KubernetesObject {
  const base = fixture.deployment();
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ];
  const resources = { requests: { cpu: '1000m' } };
  return withContainer(withSpec(base, { replicas: 2 }), { env, resources, args: ['--one', '--two'] });
}

const update =
  (change: (live: KubernetesObject) => KubernetesObject, as = asPerson): Edit =>
  (live) =>
    updateAs(as, change(live));

const relabelled = (live: KubernetesObject, labels: Record<string, string>): KubernetesObject => ({
  ...live,
  metadata: { ...live.metadata, labels },
});

function without(labels: Readonly<Record<string, string>> = {}, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => key !== name));
}

function containerOf(live: KubernetesObject): Record<string, unknown> & { env: unknown[]; args: string[] } {
  const { template } = live['spec'] as {
    template: { spec: { containers: (Record<string, unknown> & { env: unknown[]; args: string[] })[] } };
  };
  return template.spec.containers[0] ?? { env: [], args: [] };
}

function withSidecar(live: KubernetesObject): KubernetesObject {
  const { template } = live['spec'] as { template: { spec: { containers: unknown[] } } };
  const containers = [...template.spec.containers, { name: 'sidecar', image: 'sidecar:1' }];
  return withSpec(live, { template: { ...template, spec: { ...template.spec, containers } } });
}

async function wipe(live: KubernetesObject, change: Record<string, unknown> = {}): Promise<void> {
  await updateAs(asPerson, { ...withSpec(live, change), metadata: { ...live.metadata, managedFields: [{}] } });
}

function applyAs(fields: Record<string, unknown>, force: boolean): Edit {
  return () =>
    adminClient(CLUSTER).apply(
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: NAME, namespace: fixture.namespace },
        spec: fields,
      },
      asController,
      { force },
    );
}

const FORCED = ['apply! Deployment/web'];
const UNFORCED = ['apply Deployment/web'];

describe('what changes a field of ours is noticed, and answered by one apply', () => {
  it.each<[string, readonly string[], Edit]>([
    ['an update of replicas', FORCED, update((live) => withSpec(live, { replicas: 3 }))],
    ['an update under our own name', FORCED, update((live) => withSpec(live, { replicas: 3 }), asAtoll)],
    ['the removal of our label', UNFORCED, update((live) => relabelled(live, without(live.metadata.labels, 'tier')))],
    ['an update of the image', FORCED, update((live) => withContainer(live, { image: 'web:evil' }))],
    [
      'the removal of an item of a list',
      UNFORCED,
      update((live) => withContainer(live, { env: containerOf(live).env.slice(0, 1) })),
    ],
    [
      'a new order of an atomic list',
      FORCED,
      update((live) => withContainer(live, { args: containerOf(live).args.toReversed() })),
    ],
    ['an edit of an atomic list', FORCED, update((live) => withContainer(live, { args: ['--one', '--three'] }))],
    [
      'a change that is taken back by the one who made it',
      FORCED,
      async (live) => {
        const changed = await updateAs(asPerson, withSpec(live, { replicas: 3 }));
        await updateAs(asPerson, withSpec(changed, { replicas: 2 }));
      },
    ],
    ['managedFields being cleared', FORCED, (live) => wipe(live)],
    ['managedFields being cleared with a change', FORCED, (live) => wipe(live, { replicas: 3 })],
    [
      'managedFields being left out, with a change',
      FORCED,
      update(({ metadata: { managedFields: _gone, ...metadata }, ...live }) =>
        withSpec({ ...live, metadata }, { replicas: 3 }),
      ),
    ],
  ])('%s', async (_, requests, edit) => {
    await fixture.created(desired());
    await edit(await fixture.liveOf(DEPLOYMENT, NAME));
    const outcome = await look();
    expect(fixture.client.takeRequests()).toEqual(requests);
    expect(outcome).toMatchObject({ result: 'updated', left: [] });
    await expectOurs();
    expect(await look()).toMatchObject({ result: 'unchanged', left: [] });
    expect(fixture.client.takeRequests()).toEqual([]);
  });
});

describe('what takes a field of ours and is left it is noticed, and answered by no request', () => {
  it.each<[string, Edit]>([
    ['a controller', update((live) => withSpec(live, { replicas: 3 }), asController)],
    ['a change through scale', () => fixture.kubectl('scale', `deployment/${NAME}`, '--replicas=3')],
    ['a forced apply by somebody else', applyAs({ replicas: 3 }, true)],
  ])('%s', async (_, edit) => {
    await fixture.created(desired());
    await edit(await fixture.liveOf(DEPLOYMENT, NAME));
    expect(await look()).toMatchObject({ result: 'unchanged', left: [{ path: '.spec.replicas' }] });
    expect(fixture.client.takeRequests()).toEqual([]);
  });
});

describe('what leaves our fields alone is no drift', () => {
  it.each<[string, Edit]>([
    ['an update that sets what is there', update((live) => withSpec(live, { replicas: 2 }))],
    [
      'a label of somebody else',
      update((live) => relabelled(live, { ...live.metadata.labels, foreign: 'yes' }), asController),
    ],
    ['a sidecar', update(withSidecar, asController)],
    [
      'a write of the status',
      (live) =>
        adminClient(CLUSTER).update({ ...live, status: { replicas: 2, observedGeneration: 1 } }, asController, {
          subresource: 'status',
        }),
    ],
    ['an apply of the same value by somebody else', applyAs({ replicas: 2 }, false)],
    [
      'another way to write the same quantity',
      update((live) => withContainer(live, { resources: { requests: { cpu: '1' } } })),
    ],
    [
      'a new order of a list with keys',
      update((live) => withContainer(live, { env: containerOf(live).env.toReversed() })),
    ],
  ])('%s', async (_, edit) => {
    await fixture.created(desired());
    await edit(await fixture.liveOf(DEPLOYMENT, NAME));
    expect(await look()).toMatchObject({ result: 'unchanged', left: [], rewritten: [] });
    expect(fixture.client.takeRequests()).toEqual([]);
  });
});

async function look(): Promise<ApplyOutcome> {
  const live = await adminClient(CLUSTER).get(fixture.refOf(DEPLOYMENT, NAME));
  return fixture.apply(desired(), live);
}

async function expectOurs(): Promise<void> {
  const live = await fixture.liveOf(DEPLOYMENT, NAME);
  expect(live['spec']).toMatchObject({ replicas: 2 });
  expect(live.metadata.labels).toMatchObject({ tier: 'front' });
  expect(containerOf(live)).toMatchObject({
    image: 'web:1',
    args: ['--one', '--two'],
    env: [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ],
  });
}
